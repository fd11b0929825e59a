package cairn.stress;

import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Loads the core twice, as two web applications in one server would, and records with both. */
final class TwoLoadersVictim {
  private static final int STATUS = 7;

  private TwoLoadersVictim() {}

  public static void main(String[] args) throws Exception {
    URL core = cairn.Recorder.class.getProtectionDomain().getCodeSource().getLocation();
    List<URLClassLoader> loaders = new ArrayList<>();
    for (String name : List.of("first", "second")) {
      URLClassLoader loader =
          new URLClassLoader(new URL[] {core}, ClassLoader.getPlatformClassLoader());
      loaders.add(loader);
      record(loader, name, Path.of(args[0]));
    }
    System.out.println("loaders=" + loaders.size());
    Runtime.getRuntime().halt(STATUS);
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static void record(ClassLoader loader, String name, Path root) throws Exception {
    Class<?> type = loader.loadClass("cairn.Recorder");
    Class<?> builderType = loader.loadClass("cairn.Recorder$Builder");
    Class level = loader.loadClass("cairn.Level");
    Object builder = type.getMethod("builder", String.class).invoke(null, "victim");
    builderType.getMethod("directory", Path.class).invoke(builder, root);
    Object recorder = builderType.getMethod("open").invoke(builder);
    Method breadcrumb = type.getMethod("breadcrumb", level, String.class, String.class);
    breadcrumb.invoke(recorder, Enum.valueOf(level, "INFO"), "loader", name);
    System.out.println(name + " " + type.getMethod("mode").invoke(recorder));
  }
}
