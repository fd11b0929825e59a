package cairn.storage;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * The states that a directory may be in after a power loss, given what was durable before and what
 * was not.
 */
final class PowerLoss {
  /** What changes the names of a directory in one piece. */
  record NameEdit(int step, Consumer<Map<String, ModelFile>> edit) {}

  /** One thing that may have reached the device in several states; its options, oldest first. */
  private record Choice(int[] steps) {}

  private final Map<String, ModelFile> forcedNames;
  private final List<NameEdit> edits;

  PowerLoss(Map<String, ModelFile> forcedNames, List<NameEdit> edits) {
    this.forcedNames = forcedNames;
    this.edits = edits;
  }

  int images(int limit, Random random, Consumer<Map<String, ModelFile>> reader) {
    List<Map<String, ModelFile>> directories = directories(limit);
    long count = 0;
    for (Map<String, ModelFile> directory : directories) {
      count =
          Math.min(
              limit + 1L, count + combinations(new Contents(directory, random).choices, limit));
    }
    if (!directories.isEmpty() && count <= limit) {
      for (Map<String, ModelFile> directory : directories) {
        Contents contents = new Contents(directory, random);
        every(contents.choices, options -> reader.accept(contents.image(options, 0)));
      }
      return (int) count;
    }
    return sampled(limit, random, reader);
  }

  /** {@return what the names may be, each once; empty if there are too many to say} */
  private List<Map<String, ModelFile>> directories(int limit) {
    if (edits.size() > 12 || 1 << edits.size() > limit) {
      return List.of();
    }
    Set<Map<String, ModelFile>> all = new HashSet<>();
    for (int mask = 0; mask < 1 << edits.size(); mask++) {
      Map<String, ModelFile> names = new TreeMap<>(forcedNames);
      for (int i = 0; i < edits.size(); i++) {
        if ((mask >> i & 1) != 0) {
          edits.get(i).edit().accept(names);
        }
      }
      all.add(names);
    }
    return List.copyOf(all);
  }

  private static long combinations(List<Choice> choices, int limit) {
    long count = 1;
    for (Choice choice : choices) {
      count *= choice.steps().length;
      if (count > limit) {
        return limit + 1L;
      }
    }
    return count;
  }

  private static void every(List<Choice> choices, Consumer<int[]> reader) {
    int[] options = new int[choices.size()];
    while (true) {
      reader.accept(options);
      int at = 0;
      while (at < options.length && ++options[at] == choices.get(at).steps().length) {
        options[at++] = 0;
      }
      if (at == options.length) {
        return;
      }
    }
  }

  private int sampled(int limit, Random random, Consumer<Map<String, ModelFile>> reader) {
    // Every file that any edit could bring, so that one list of choices serves all names.
    List<Choice> choices = new ArrayList<>();
    for (NameEdit edit : edits) {
      choices.add(new Choice(new int[] {0, edit.step()}));
    }
    Map<String, ModelFile> everything = new TreeMap<>();
    forcedNames.forEach((name, file) -> everything.put("forced " + name, file));
    for (int i = 0; i < edits.size(); i++) {
      Map<String, ModelFile> names = new TreeMap<>();
      edits.get(i).edit().accept(names);
      for (Map.Entry<String, ModelFile> entry : names.entrySet()) {
        everything.put(i + " " + entry.getKey(), entry.getValue());
      }
    }
    Contents all = new Contents(everything, random);
    choices.addAll(all.choices);
    int[] newest = choices.stream().mapToInt(choice -> choice.steps().length - 1).toArray();

    int[] count = {0};
    Consumer<int[]> each =
        options -> {
          Map<String, ModelFile> names = new TreeMap<>(forcedNames);
          for (int i = 0; i < edits.size(); i++) {
            if (options[i] != 0) {
              edits.get(i).edit().accept(names);
            }
          }
          reader.accept(all.image(names, options, edits.size()));
          count[0]++;
        };
    each.accept(new int[newest.length]);
    each.accept(newest);
    asOfEachStep(choices, limit / 3, each);
    exceptions(choices, newest, limit / 3, random, each);
    while (count[0] < limit) {
      each.accept(random(choices, newest, random));
    }
    return count[0];
  }

  /** What a disk leaves that writes in order: everything up to a step and nothing after it. */
  private static void asOfEachStep(List<Choice> choices, int limit, Consumer<int[]> each) {
    TreeSet<Integer> steps = new TreeSet<>();
    choices.forEach(choice -> Arrays.stream(choice.steps()).forEach(steps::add));
    int skip = 1 + steps.size() / Math.max(1, limit);
    int number = 0;
    for (int step : steps) {
      if (number++ % skip != 0) {
        continue;
      }
      int[] options = new int[choices.size()];
      for (int i = 0; i < options.length; i++) {
        int[] of = choices.get(i).steps();
        while (options[i] + 1 < of.length && of[options[i] + 1] <= step) {
          options[i]++;
        }
      }
      each.accept(options);
    }
  }

  /** All but one, and only one. */
  private static void exceptions(
      List<Choice> choices, int[] newest, int limit, Random random, Consumer<int[]> each) {
    int skip = 1 + 2 * choices.size() / Math.max(1, limit);
    for (int i = random.nextInt(skip); i < choices.size(); i += skip) {
      int[] allButOne = newest.clone();
      allButOne[i] = random.nextInt(Math.max(1, newest[i]));
      each.accept(allButOne);
      int[] onlyOne = new int[newest.length];
      onlyOne[i] = newest[i];
      each.accept(onlyOne);
    }
  }

  /** Mostly old, mostly new, or anything: each sees other mistakes. */
  private static int[] random(List<Choice> choices, int[] newest, Random random) {
    int[] options = new int[choices.size()];
    int newestPercent = new int[] {10, 50, 90}[random.nextInt(3)];
    int anyPercent = random.nextInt(3) * 20;
    for (int i = 0; i < options.length; i++) {
      if (random.nextInt(100) < anyPercent) {
        options[i] = random.nextInt(newest[i] + 1);
      } else if (random.nextInt(100) < newestPercent) {
        options[i] = newest[i];
      }
    }
    return options;
  }

  /** The choices that the contents of some files leave. */
  private static final class Contents {
    private static final int FINE = 2;

    private final Map<String, ModelFile> names;
    private final Random random;
    private final Map<ModelFile, Integer> firstChoice = new IdentityHashMap<>();
    final List<Choice> choices = new ArrayList<>();

    Contents(Map<String, ModelFile> names, Random random) {
      this.names = names;
      this.random = random;
      for (ModelFile file : names.values().stream().distinct().toList()) {
        firstChoice.put(file, choices.size());
        choices.add(new Choice(file.extents().stream().mapToInt(ModelFile.Extent::step).toArray()));
        if (isCoarse(file)) {
          int last =
              file.undecided().values().stream()
                  .mapToInt(versions -> versions.get(versions.size() - 1).step())
                  .max()
                  .orElse(0);
          choices.add(new Choice(new int[] {0, last, last}));
          continue;
        }
        for (List<ModelFile.Version> versions : file.undecided().values()) {
          choices.add(new Choice(versions.stream().mapToInt(ModelFile.Version::step).toArray()));
        }
      }
    }

    private static boolean isCoarse(ModelFile file) {
      return file.isCoarse && file.undecided().size() > FINE;
    }

    Map<String, ModelFile> image(int[] options, int from) {
      return image(names, options, from);
    }

    Map<String, ModelFile> image(Map<String, ModelFile> shown, int[] options, int from) {
      Map<String, ModelFile> image = new LinkedHashMap<>();
      shown.forEach((name, file) -> image.put(name, image(file, options, from)));
      return image;
    }

    private ModelFile image(ModelFile file, int[] options, int from) {
      int at = from + firstChoice.get(file);
      long length = file.extents().get(options[at++]).length();
      Map<Integer, byte[]> decided = new HashMap<>();
      for (Map.Entry<Integer, List<ModelFile.Version>> sector : file.undecided().entrySet()) {
        List<ModelFile.Version> versions = sector.getValue();
        int option;
        if (isCoarse(file)) {
          int newest = versions.size() - 1;
          option = new int[] {0, random.nextInt(newest + 1), newest}[options[at]];
        } else {
          option = options[at++];
        }
        decided.put(sector.getKey(), versions.get(option).bytes());
      }
      return file.image(length, decided);
    }
  }
}
