package cairn.bench;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

/** A JVM of its own for one measurement; it prints lines of {@code result name=value ...}. */
final class Child {
  /** Chronicle Queue needs these on JDK 17 and later. */
  static final List<String> OPENS =
      List.of(
          "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
          "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
          "--add-exports=java.base/jdk.internal.util=ALL-UNNAMED",
          "--add-opens=java.base/java.lang=ALL-UNNAMED",
          "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
          "--add-opens=java.base/java.io=ALL-UNNAMED",
          "--add-opens=java.base/java.util=ALL-UNNAMED",
          "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
          "-Dchronicle.analytics.disable=true",
          "-Dchronicle.announcer.disable=true",
          "-Dsystem.properties=none");

  private Child() {}

  /** {@return a result printed by {@link #run}'s child} */
  static String result(Object... namesAndValues) {
    StringBuilder line = new StringBuilder("result");
    for (int i = 0; i < namesAndValues.length; i += 2) {
      line.append(' ').append(namesAndValues[i]).append('=').append(namesAndValues[i + 1]);
    }
    return line.toString();
  }

  /** Starts a JVM whose output goes to {@code log}. */
  static Process start(
      List<String> prefix, List<String> jvm, String classpath, List<String> main, Path log)
      throws IOException {
    List<String> command = new ArrayList<>(prefix);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvm);
    command.add("-cp");
    command.add(classpath);
    command.addAll(main);
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(log.toFile())
        .start();
  }

  /** Runs a JVM to its end; throws if it exits with anything but 0 or takes too long. */
  static Map<String, String> run(
      List<String> prefix,
      List<String> jvm,
      String classpath,
      List<String> main,
      long timeoutSeconds)
      throws IOException, InterruptedException {
    Path log = Files.createTempFile(Scratch.root(), "cairn-child-", ".log");
    Process process = start(prefix, jvm, classpath, main, log);
    return finish(process, log, main, timeoutSeconds);
  }

  /** Awaits a JVM that {@link #start} started. */
  static Map<String, String> finish(
      Process process, Path log, List<String> main, long timeoutSeconds)
      throws IOException, InterruptedException {
    try {
      boolean ended = process.waitFor(timeoutSeconds, TimeUnit.SECONDS);
      if (!ended) {
        process.destroyForcibly().waitFor();
      }
      String output = Files.readString(log, StandardCharsets.UTF_8);
      if (!ended || process.exitValue() != 0) {
        throw new IllegalStateException(
            "child is of no use: main="
                + main
                + ", ended="
                + ended
                + ", exit="
                + process.exitValue()
                + "\n"
                + output);
      }
      Map<String, String> results = new LinkedHashMap<>();
      for (String line : output.lines().filter(line -> line.startsWith("result ")).toList()) {
        for (String pair : line.substring("result ".length()).split(" ")) {
          int equals = pair.indexOf('=');
          results.put(pair.substring(0, equals), pair.substring(equals + 1));
        }
      }
      return results;
    } finally {
      Files.deleteIfExists(log);
    }
  }

  /**
   * Packs classes of this process into a jar that names no other, so that nothing but what a class
   * path says comes along.
   *
   * @param classes names of entries, without {@code .class}
   */
  static Path pack(Path file, List<String> classes) throws IOException {
    try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(file))) {
      for (String name : classes) {
        String entry = name + ".class";
        jar.putNextEntry(new JarEntry(entry));
        try (InputStream in = Child.class.getClassLoader().getResourceAsStream(entry)) {
          Objects.requireNonNull(in, entry).transferTo(jar);
        }
      }
    }
    return file;
  }

  /** {@return the class path of this process} */
  static String classpath() {
    return System.getProperty("java.class.path");
  }

  /** {@return the jars that {@code lib} has beside this one and that start with a prefix} */
  static String jars(String... prefixes) throws IOException {
    return jarsIn("lib", prefixes);
  }

  /**
   * {@return the jars in a directory beside this one whose names start with one of the prefixes}
   */
  static String jarsIn(String directory, String... prefixes) throws IOException {
    Path lib = Path.of(classpath()).toAbsolutePath().resolveSibling(directory);
    StringBuilder found = new StringBuilder();
    try (Stream<Path> files = Files.list(lib)) {
      for (Path file : files.sorted().toList()) {
        for (String prefix : prefixes) {
          if (file.getFileName().toString().startsWith(prefix)) {
            found.append(File.pathSeparator).append(file);
          }
        }
      }
    }
    Evidence.require(found.length() > 0, "jars in " + lib, "none", List.of(prefixes));
    return found.substring(1);
  }
}
