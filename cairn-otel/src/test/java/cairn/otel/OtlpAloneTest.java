package cairn.otel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import cairn.report.BoxBuilder;
import cairn.report.Report;
import cairn.report.ReportOfBytes;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line has only the classes whose names begin with Otlp, and no OpenTelemetry. */
class OtlpAloneTest {
  /** Defines those classes itself, and finds neither OpenTelemetry nor another class of theirs. */
  private static final class OnlyOtlp extends ClassLoader {
    OnlyOtlp() {
      super(OtlpAloneTest.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.startsWith("io.opentelemetry.")) {
        throw new ClassNotFoundException(name);
      }
      if (!name.startsWith("cairn.otel.")) {
        return super.loadClass(name, resolve);
      }
      Class<?> loaded = findLoadedClass(name);
      if (loaded != null) {
        return loaded;
      }
      if (!name.startsWith("cairn.otel.Otlp")) {
        throw new ClassNotFoundException(name);
      }
      try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
        byte[] bytes = in.readAllBytes();
        return defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }

  @Test
  void filesAreWrittenWithoutOpenTelemetry(@TempDir Path temp) throws Exception {
    ClassLoader loader = new OnlyOtlp();
    Report report =
        ReportOfBytes.read(
            BoxBuilder.box()
                .beat(60_000)
                .span(0, BoxBuilder.begin("a", 2, 0, "t"), "list", List.of(1L))
                .crumb(1, 1, "c", "m", "k", BoxBuilder.map("a", 1L))
                .bytes());

    Object json =
        loader.loadClass("cairn.otel.OtlpJson").getMethod("of", Report.class).invoke(null, report);
    Class<?> file = loader.loadClass("cairn.otel.OtlpFile");
    file.getMethod("append", Path.class, json.getClass()).invoke(null, temp.resolve("f"), json);
    file.getMethod("create", Path.class, json.getClass()).invoke(null, temp.resolve("d"), json);

    assertThat(Files.readAllLines(temp.resolve("f"))).hasSize(2);
    assertThat(temp.resolve("d")).isDirectoryContaining("glob:**.traces.jsonl");
    assertThatThrownBy(() -> loader.loadClass("cairn.otel.ReportTelemetry"))
        .as("the loader does keep others out")
        .isInstanceOf(ClassNotFoundException.class);
  }
}
