package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.format.RecordLayout;
import cairn.report.Breadcrumb;
import cairn.report.Report;
import cairn.report.ReportOfRun;
import cairn.report.UnfinishedSpan;
import cairn.storage.ModelDisk;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * A run under power durability on a model disk, stopped at every operation of the disk by a power
 * loss that keeps any part of what was not forced, and any state of the box.
 *
 * <p>What must hold at each: what was forced is in the report, or what came after it; nothing else
 * is. {@code -Dcairn.model.seeds=N} for more random histories.
 */
class RecorderCrashPointsTest {
  private static final int TRAIL_BYTES = 64 * 1024;

  /** What the application has recorded, after one of its calls. */
  private record State(
      Map<String, String> tags, List<String> crumbs, Map<String, Map<String, Long>> spans) {}

  /** One run: the real writers, and what they must not lose. */
  private static final class History {
    final MemoryBox memory = new MemoryBox(16, TRAIL_BYTES);
    final Box box = memory.box;
    final ModelDisk disk;
    final RunJournal journal;
    final Random random;
    final int imagesPerStep;

    final List<State> states = new ArrayList<>();
    final List<byte[]> boxes = new ArrayList<>();
    final Map<String, Long> positions = new HashMap<>();
    final Map<String, Long> handles = new HashMap<>();

    /** Which state was forced last; -1 before the first. */
    int durable = -1;

    int crumbs;
    int spans;
    int images;
    int failures;

    History(long seed, int imagesPerStep) {
      this.random = new Random(seed);
      this.disk = new ModelDisk(seed % 4 == 0 ? 4096 : 512);
      if (seed % 3 == 0) {
        disk.showStaleBlocks();
      }
      this.journal = new RunJournal(box, disk, List.of(), null, 8 * 1024, 64 * 1024);
      this.imagesPerStep = imagesPerStep;
      states.add(new State(Map.of(), List.of(), Map.of()));
      boxes.add(memory.image());
    }

    State now() {
      return states.get(states.size() - 1);
    }

    private void add(
        Map<String, String> tags, List<String> crumbs, Map<String, Map<String, Long>> spans) {
      states.add(new State(tags, crumbs, spans));
      boxes.add(memory.image());
    }

    void crumb(int length) {
      String message = "crumb " + crumbs++ + "-" + "x".repeat(length);
      positions.put(message, box.trail.tail());
      box.breadcrumb(Level.INFO, "c", message, null);
      List<String> next = new ArrayList<>(now().crumbs);
      next.add(message);
      add(now().tags, next, now().spans);
    }

    void tag(String key, String value) {
      box.setScope(RecordLayout.KIND_TAG, key, value);
      Map<String, String> next = new HashMap<>(now().tags);
      if (value == null) {
        next.remove(key);
      } else {
        next.put(key, value);
      }
      add(next, now().crumbs, now().spans);
    }

    void clear() {
      box.clearScope();
      add(Map.of(), now().crumbs, now().spans);
    }

    void begin() {
      String name = "span " + spans++;
      handles.put(name, box.spans.begin(name));
      Map<String, Map<String, Long>> next = new LinkedHashMap<>(now().spans);
      next.put(name, Map.of());
      add(now().tags, now().crumbs, next);
    }

    void set(String name, String key, long value) {
      box.spans.set(handles.get(name), key, SpanTable.INTEGER, value, "");
      Map<String, Map<String, Long>> next = new LinkedHashMap<>(now().spans);
      Map<String, Long> attributes = new HashMap<>(next.get(name));
      attributes.put(key, value);
      next.put(name, attributes);
      add(now().tags, now().crumbs, next);
    }

    void close(String name) {
      box.spans.close(handles.get(name));
      Map<String, Map<String, Long>> next = new LinkedHashMap<>(now().spans);
      next.remove(name);
      add(now().tags, now().crumbs, next);
    }

    void compact() {
      box.scope.eraseStale();
      boxes.set(boxes.size() - 1, memory.image());
    }

    /** As the committer does it: once more after an error. */
    void pass(boolean erase) {
      memory.clock.advanceMillis(10);
      int state = states.size() - 1;
      box.beat();
      try {
        journal.pass(erase);
      } catch (IOException e) {
        failures++;
        try {
          journal.pass(erase);
        } catch (IOException again) {
          failures++;
          return;
        }
      }
      durable = state;
    }

    void checkEachStep() {
      disk.onStep(() -> images += disk.crashImages(imagesPerStep, random, this::check));
    }

    void checkNow() {
      images += disk.crashImages(4 * imagesPerStep, random, this::check);
    }

    /** Every kind of box beside this image of the disk. */
    void check(ModelDisk image) {
      switch (random.nextInt(4)) {
        case 0 -> check(image, null);
        case 1 -> check(image, boxes.get(random.nextInt(boxes.size())));
        case 2 -> check(image, mixed());
        default -> {
          Report report = check(image, memory.image());
          // What process death leaves is not made worse by a journal.
          assertThat(tags(report)).isEqualTo(now().tags);
          assertThat(names(report)).isEqualTo(now().spans.keySet());
        }
      }
    }

    /** Sectors of two moments: what writeback had got to. */
    private byte[] mixed() {
      byte[] image = boxes.get(random.nextInt(boxes.size())).clone();
      byte[] other = boxes.get(random.nextInt(boxes.size()));
      for (int at = 0; at < image.length; at += 512) {
        if (random.nextBoolean()) {
          System.arraycopy(other, at, image, at, 512);
        }
      }
      return image;
    }

    private Report check(ModelDisk image, byte[] bytes) {
      if (bytes == null && durable < 0) {
        return null; // nothing was promised yet, and nothing need be there
      }
      Report report = ReportOfRun.read(bytes, image);
      List<State> allowed = states.subList(Math.max(0, durable), states.size());
      checkTags(report, allowed);
      checkTrail(report, allowed);
      checkSpans(report, allowed);
      return report;
    }

    private static Map<String, Object> tags(Report report) {
      return new HashMap<>(report.scope().tags());
    }

    private static Set<String> names(Report report) {
      Set<String> names = new TreeSet<>();
      report.openSpans().forEach(span -> names.add(span.name()));
      return names;
    }

    private void checkTags(Report report, List<State> allowed) {
      Map<String, Object> shown = tags(report);
      Set<String> keys = new TreeSet<>(shown.keySet());
      allowed.forEach(state -> keys.addAll(state.tags.keySet()));
      for (String key : keys) {
        List<String> values = new ArrayList<>();
        allowed.forEach(state -> values.add(state.tags.get(key)));
        assertThat(values)
            .as("tag %s, findings %s", key, report.findings())
            .contains((String) shown.get(key));
      }
    }

    private void checkTrail(Report report, List<State> allowed) {
      List<String> shown = report.trail().stream().map(Breadcrumb::message).toList();
      List<String> all = now().crumbs;
      assertThat(shown).doesNotHaveDuplicates().isSubsetOf(all);
      assertThat(shown.stream().map(all::indexOf).toList()).isSorted();
      long oldest = box.trail.tail() - TRAIL_BYTES;
      List<String> promised =
          allowed.get(0).crumbs.stream().filter(crumb -> positions.get(crumb) >= oldest).toList();
      if (durable >= 0) {
        assertThat(shown).as("findings %s", report.findings()).containsAll(promised);
      }
    }

    private void checkSpans(Report report, List<State> allowed) {
      Map<String, UnfinishedSpan> shown = new HashMap<>();
      report.openSpans().forEach(span -> shown.put(span.name(), span));
      for (String name : shown.keySet()) {
        assertThat(allowed).as("open span %s", name).anyMatch(s -> s.spans.containsKey(name));
      }
      if (durable < 0) {
        return;
      }
      for (String name : allowed.get(0).spans.keySet()) {
        if (allowed.stream().allMatch(state -> state.spans.containsKey(name))) {
          assertThat(shown).as("findings %s", report.findings()).containsKey(name);
          checkAttributes(name, shown.get(name), allowed);
        }
      }
    }

    private static void checkAttributes(String name, UnfinishedSpan span, List<State> allowed) {
      Set<String> keys = new TreeSet<>(span.attributes().keySet());
      allowed.forEach(state -> keys.addAll(state.spans.get(name).keySet()));
      for (String key : keys) {
        List<Long> values = new ArrayList<>();
        allowed.forEach(state -> values.add(state.spans.get(name).get(key)));
        assertThat(values).as("%s of %s", key, name).contains((Long) span.attributes().get(key));
      }
    }

    /** A call of the application, or a pass. */
    void random() {
      List<String> open = List.copyOf(now().spans.keySet());
      String span = open.isEmpty() ? null : open.get(random.nextInt(open.size()));
      switch (random.nextInt(14)) {
        case 0, 1, 2 -> crumb(random.nextInt(300));
        case 3, 4, 5 ->
            tag(
                "k" + random.nextInt(4),
                "v" + random.nextInt(1000) + "y".repeat(random.nextInt(400)));
        case 6 -> tag("k" + random.nextInt(4), null);
        case 7 -> {
          if (open.size() < 12) {
            begin();
          }
        }
        case 8 -> {
          if (span != null && now().spans.get(span).size() < 6) {
            set(span, "a" + random.nextInt(3), random.nextInt(100));
          }
        }
        case 9 -> {
          if (span != null) {
            close(span);
          }
        }
        case 10 -> {
          if (random.nextInt(4) == 0) {
            clear();
          } else {
            compact();
          }
        }
        default -> pass(random.nextInt(8) == 0);
      }
    }
  }

  @Test
  void smallHistoriesAreWholeAfterPowerLossAtEveryOperation() {
    int images = 0;
    for (int seed = 0; seed < 14; seed++) {
      History history = new History(seed, 10);
      history.checkEachStep();
      history.pass(false);
      history.tag("k0", "first");
      history.crumb(20);
      history.begin();
      history.pass(false);
      history.tag("k0", "second");
      history.tag("k1", "x");
      history.set("span 0", "a0", 1);
      history.crumb(500);
      history.pass(false);
      history.tag("k1", null);
      history.compact();
      history.close("span 0");
      history.begin();
      history.pass(false);
      history.clear();
      history.tag("k2", "after");
      history.pass(true);
      for (int i = 0; i < 12; i++) {
        history.crumb(400);
        history.pass(false);
      }
      history.disk.onStep(null);
      history.checkNow();
      images += history.images;
    }
    System.out.println("images of small histories checked: " + images);
    assertThat(images).isGreaterThan(3_000);
  }

  @Test
  void randomHistoriesAreWholeAfterPowerLossAtAnyTime() {
    int seeds = Integer.getInteger("cairn.model.seeds", 30);
    long images = 0;
    for (long seed = 1; seed <= seeds; seed++) {
      History history = new History(seed, 3);
      try {
        history.pass(false);
        history.checkEachStep();
        int calls = 40 + history.random.nextInt(160);
        for (int i = 0; i < calls; i++) {
          history.random();
        }
        history.disk.onStep(null);
        history.checkNow();
      } catch (AssertionError e) {
        throw new AssertionError("seed=" + seed, e);
      }
      images += history.images;
    }
    System.out.println("images of random histories checked: " + images);
    assertThat(images).isPositive();
  }

  @Test
  void everyFailureOfTheDiskAtEveryOperationLosesNothingThatWasForced() {
    long images = 0;
    int faults = 0;
    Set<ModelDisk.Operation> kinds = EnumSet.noneOf(ModelDisk.Operation.class);
    for (ModelDisk.Operation kind : ModelDisk.Operation.values()) {
      if (kind.changes()) {
        kinds.add(kind);
      }
    }
    for (ModelDisk.Fault fault : ModelDisk.Fault.values()) {
      for (int nth = 1; ; nth += 1 + nth / 5) {
        History history = new History(nth, 1);
        history.checkEachStep();
        history.disk.fail(fault, kinds, nth);
        try {
          for (int i = 0; i < 60; i++) {
            history.random();
          }
          history.pass(false);
          history.disk.onStep(null);
          history.checkNow();
        } catch (AssertionError e) {
          throw new AssertionError("fault=" + fault + ", nth=" + nth, e);
        }
        images += history.images;
        faults += history.disk.faultsHit();
        if (history.disk.faultsHit() == 0) {
          break;
        }
      }
    }
    System.out.println("faults injected: " + faults + ", images checked: " + images);
    assertThat(faults).isGreaterThan(50);
  }
}
