package cairn.stress;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A Java that is installed here.
 *
 * @param home its directory
 * @param feature its version, such as 17
 */
record Jdk(Path home, int feature) {
  static final int FIRST_WITH_VIRTUAL_THREADS = 21;

  /** The first in which they are no preview. */
  static final int FIRST_WITH_FOREIGN_FUNCTIONS = 22;

  private static final Pattern VERSION = Pattern.compile("JAVA_VERSION=\"(\\d+)");

  /** {@return this Java, and of each later version one that is installed beside it} */
  static List<Jdk> installed() throws IOException {
    Path own = Path.of(System.getProperty("java.home")).toRealPath();
    TreeMap<Integer, Jdk> byFeature = new TreeMap<>();
    int feature = Runtime.version().feature();
    byFeature.put(feature, new Jdk(own, feature));
    try (Stream<Path> homes = Files.list(own.getParent())) {
      for (Path home : homes.sorted().toList()) {
        Path release = home.resolve("release");
        if (Files.isReadable(release) && Files.isExecutable(home.resolve("bin/java"))) {
          Matcher matcher = VERSION.matcher(Files.readString(release));
          if (matcher.find() && Integer.parseInt(matcher.group(1)) > feature) {
            int other = Integer.parseInt(matcher.group(1));
            byFeature.putIfAbsent(other, new Jdk(home, other));
          }
        }
      }
    }
    return new ArrayList<>(byFeature.values());
  }

  Path java() {
    return home.resolve("bin").resolve("java");
  }
}
