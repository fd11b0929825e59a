package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.report.Cause;
import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import cairn.report.UnfinishedSpan;
import cairn.sentry.SentryFiles;
import io.sentry.Breadcrumb;
import io.sentry.SentryOptions;
import io.sentry.cache.PersistingScopeObserver;
import io.sentry.protocol.Contexts;
import io.sentry.protocol.User;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What Sentry's own observer and Cairn's have kept of the same scope when its process is killed,
 * with the real SDK. {@code docs/SENTRY-KILLS.md} has what is counted.
 */
class SentryKillTest {
  private static final int KILLS = Integer.getInteger("cairn.stress.sentryKills", 6);

  /** Of breadcrumbs, the SDK's default. */
  private static final int RING = 100;

  @TempDir Path directory;

  /** What the victim said of a kill. */
  private record Truth(long begun, long contexts, long user, long breadcrumb) {}

  /**
   * What was found after a kill.
   *
   * @param contexts step of the contexts; -1 if they can't be read
   * @param user step of the user; -1 if it can't be read
   * @param trail steps of the breadcrumbs; null if they can't be read
   */
  private record Found(long contexts, long user, List<Long> trail) {
    long newest() {
      return trail == null || trail.isEmpty() ? 0 : trail.get(trail.size() - 1);
    }

    boolean isReadable() {
      return contexts >= 0 && user >= 0 && trail != null;
    }

    /**
     * {@return whether the scope was so at any moment: each step sets contexts, user, breadcrumb}
     */
    boolean isOfOneMoment() {
      return contexts >= user && user >= newest() && contexts - newest() <= 1;
    }
  }

  /** What came of all kills of a case. */
  private static final class Tally {
    private final String name;
    private int kills;
    private int contexts;
    private int user;
    private int trail;
    private int any;
    private int mixed;
    private int stale;
    private final List<Long> lost = new ArrayList<>();

    Tally(String name) {
      this.name = name;
    }

    void add(Truth truth, Found found) {
      kills++;
      contexts += found.contexts < 0 ? 1 : 0;
      user += found.user < 0 ? 1 : 0;
      trail += found.trail == null ? 1 : 0;
      any += found.isReadable() ? 0 : 1;
      mixed += found.isReadable() && !found.isOfOneMoment() ? 1 : 0;
      boolean isStale = found.contexts < truth.contexts || found.user < truth.user;
      stale += isStale ? 1 : 0;
      lost.add(lost(truth, found));
    }

    /** {@return how many of the last hundred that were added are not there} */
    private static long lost(Truth truth, Found found) {
      Set<Long> there = new HashSet<>(found.trail == null ? List.of() : found.trail);
      long from = Math.max(1, truth.breadcrumb - RING + 1);
      long missing = 0;
      for (long step = from; step <= truth.breadcrumb; step++) {
        missing += there.contains(step) ? 0 : 1;
      }
      return missing;
    }

    long lost() {
      return lost.stream().mapToLong(Long::longValue).sum();
    }

    @Override
    public String toString() {
      return String.format(
          Locale.ROOT,
          "%s: kills=%d, a field unreadable=%d (contexts=%d, user=%d, trail=%d), contexts or user older"
              + " than what had returned=%d, fields of different moments=%d, kills with lost"
              + " breadcrumbs=%d, lost: mean=%.1f, most=%d",
          name,
          kills,
          any,
          contexts,
          user,
          trail,
          stale,
          mixed,
          lost.stream().filter(count -> count > 0).count(),
          lost.stream().mapToLong(Long::longValue).average().orElse(0),
          lost.stream().mapToLong(Long::longValue).max().orElse(0));
    }
  }

  @Test
  void tinyContexts() throws Exception {
    kill("tiny", 2);
  }

  @Test
  void largeContexts() throws Exception {
    kill("large", SentryVictim.LARGE_KEYS);
  }

  private void kill(String what, int keys) throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Random random = new Random(seed);
    Tally sentry = new Tally("sentry-java's files, " + what);
    Tally cairn = new Tally("Cairn's box, " + what);
    Tally salvaged = new Tally("sentry-java's files by cairn import, " + what);
    for (int i = 0; i < KILLS; i++) {
      Path home = Files.createDirectory(directory.resolve(Integer.toString(i)));
      Truth truth = live(what, home, random);
      Report imported = SentryFiles.read(home.resolve("cache")).get(0).toReport();
      salvaged.add(truth, found(imported, -1));
      sentry.add(truth, readBySentry(home.resolve("cache"), keys));

      Run run = Runs.under(home.resolve("root")).list().get(0);
      Report report = run.report();
      Found found = found(report, keys);
      cairn.add(truth, found);
      assertThat(report.verdict().cause()).isEqualTo(Cause.KILLED);
      assertThat(found.contexts).as("contexts").isBetween(truth.contexts, truth.begun);
      assertThat(found.user).as("user").isBetween(truth.user, truth.begun);
      assertThat(found.newest()).as("newest").isBetween(truth.breadcrumb, truth.begun);
      assertThat(found.trail).as("each once, in order").isSorted().doesNotHaveDuplicates();
      assertThat(report.counters()).containsEntry("scopeDropped", 0L).containsEntry("cut", 0L);
      delete(home);
    }
    System.out.println(sentry);
    System.out.println(salvaged);
    System.out.println(cairn);
    assertThat(cairn.any).as("kills with an unreadable field").isZero();
    assertThat(cairn.stale).as("kills with an old value").isZero();
    assertThat(cairn.mixed).as("kills with fields of different moments").isZero();
    assertThat(cairn.lost()).as("lost breadcrumbs").isZero();
  }

  /** Starts a victim and kills it at some moment. */
  private Truth live(String what, Path home, Random random) throws Exception {
    SharedWords words = SharedWords.create(home.resolve("words"), SentryVictim.WORDS_BYTES);
    try (Child child = Child.start(command(what, home), home.resolve("log"))) {
      assertThat(child.readLine()).isEqualTo("ready");
      child.liveOn(20 + random.nextInt(200));
      child.kill();
    }
    return new Truth(
        words.getAcquire(SentryVictim.BEGUN),
        words.getAcquire(SentryVictim.CONTEXTS_RETURNED),
        words.getAcquire(SentryVictim.USER_RETURNED),
        words.getAcquire(SentryVictim.BREADCRUMB_RETURNED));
  }

  private static List<String> command(String what, Path home) {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-Xmx256m",
        "-XX:TieredStopAtLevel=1",
        "-Dcairn.dir=" + home.resolve("root"),
        "-cp",
        System.getProperty("java.class.path"),
        SentryVictim.class.getName(),
        what,
        home.resolve("cache").toString(),
        home.resolve("words").toString());
  }

  /** As Sentry's own reader has it at the next start. */
  private static Found readBySentry(Path cache, int keys) {
    SentryOptions options = new SentryOptions();
    options.setDsn(SentryVictim.DSN);
    options.setCacheDirPath(cache.toString());
    PersistingScopeObserver observer = new PersistingScopeObserver(options);
    Contexts contexts =
        observer.read(options, PersistingScopeObserver.CONTEXTS_FILENAME, Contexts.class);
    User user = observer.read(options, PersistingScopeObserver.USER_FILENAME, User.class);
    List<?> breadcrumbs =
        observer.read(options, PersistingScopeObserver.BREADCRUMBS_FILENAME, List.class);
    List<Long> trail = new ArrayList<>();
    if (breadcrumbs != null) {
      breadcrumbs.forEach(each -> trail.add(step(((Breadcrumb) each).getMessage())));
    }
    return new Found(
        contexts == null ? -1 : context(contexts.get(SentryVictim.CONTEXT), keys),
        user == null ? -1 : step(user.getId()),
        trail.isEmpty() ? null : trail);
  }

  private static Found found(Report report, int keys) {
    List<Long> trail = new ArrayList<>();
    report.trail().forEach(crumb -> trail.add(step(crumb.message())));
    return new Found(
        context(report.scope().contexts().get(SentryVictim.CONTEXT), keys),
        step(report.scope().user().get("id")),
        trail.isEmpty() ? null : trail);
  }

  /**
   * {@return the step that all values of a context are of; -1 if it isn't whole}
   *
   * @param keys how many it must have; -1 for as many as there are
   */
  private static long context(Object context, int keys) {
    if (!(context instanceof Map<?, ?> map) || map.isEmpty() || (keys > 0 && map.size() != keys)) {
      return -1;
    }
    Set<Object> values = new HashSet<>(map.values());
    Object value = values.iterator().next();
    if (values.size() != 1 || !(value instanceof String text) || text.length() != 100) {
      return -1;
    }
    return step(text.substring(0, 10));
  }

  private static long step(Object text) {
    return text instanceof String digits && digits.matches("\\d{10}") ? Long.parseLong(digits) : -1;
  }

  private static void delete(Path home) throws IOException {
    try (var paths = Files.walk(home)) {
      for (Path path : paths.sorted((one, other) -> other.compareTo(one)).toList()) {
        Files.delete(path);
      }
    }
  }

  @Test
  void requestsOfTwoUsersAreMixedInSentrysFilesAndApartInTheReport() throws Exception {
    Path home = Files.createDirectory(directory.resolve("requests"));
    SharedWords.create(home.resolve("words"), SentryVictim.WORDS_BYTES);
    try (Child child = Child.start(command("requests", home), home.resolve("log"))) {
      assertThat(child.readLine()).isEqualTo("ready");
      child.kill();
    }

    Report files = SentryFiles.read(home.resolve("cache")).get(0).toReport();
    assertThat(files.scope().user()).containsEntry("id", "bob");
    assertThat(files.scope().tags()).containsEntry("who", "alice");
    assertThat(files.trail())
        .extracting(crumb -> crumb.message())
        .containsExactly("of bob", "of alice");

    Report report = Runs.under(home.resolve("root")).list().get(0).report();
    assertThat(report.scope().user()).isEmpty();
    assertThat(report.scope().tags()).doesNotContainKey("who");
    Set<String> names = new TreeSet<>();
    for (UnfinishedSpan span : report.openSpans()) {
      names.add(span.name());
      String name = span.name().substring("GET /".length());
      assertThat(span.attributes())
          .containsEntry("sentry.user.id", name)
          .containsEntry("sentry.tag.who", name);
      assertThat(report.trail())
          .filteredOn(crumb -> span.spanId().equals(crumb.spanId()))
          .extracting(crumb -> crumb.message())
          .containsExactly("of " + name);
    }
    assertThat(names).containsExactly("GET /alice", "GET /bob");
  }
}
