package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;

/** Text, JSON and chart of the same figures. */
class ProfileTextTest {
  private static final ProfileDisk MEMORY =
      new ProfileDisk("tmpfs", "tmpfs", 1L << 30, null, null, null);

  @Test
  void theTextLeadsWithWhatMattersAndFitsATerminal() {
    String text = ProfileText.of(ProfileFigures.flash().report(ProfileFigures.DISK, 2000));

    assertThat(text.lines()).allMatch(line -> line.length() <= 80);
    assertThat(text.replace('\n', ' '))
        .contains(
            "A durable write takes 200 us here; 98 % of that is the force, 1.0 % serialising.")
        .contains("Suggested at 2,000 events/s: bounded(20).")
        .contains("Forcing a file that grows takes 2.5 x as long");
    assertThat(text)
        .contains("encode                        2.00     2.00     2.00     2.00     2.00")
        .contains("  force           195 us    98 %  #######")
        .contains("  stream buffer          2.10       2.10   the last 32     about 70,000\n")
        .contains(">    2,000     40 %    2.0 %    0.4 %       21      101     70,000  bounded(20)")
        .doesNotContain("PARTIAL", "\u001b");
  }

  @Test
  void aMemoryFileSystemIsSaidFirstAndPromisesNothing() {
    String text = ProfileText.of(ProfileFigures.flash().report(MEMORY, 100));

    assertThat(text.lines().skip(4).findFirst().orElseThrow()).startsWith("tmpfs is memory");
    assertThat(text)
        .contains("  process()              0.50       0.50   nothing         everything\n")
        .contains("process(), since forces buy nothing here")
        .doesNotContain("about 3,500", "n=20");
  }

  @Test
  void aDiskThatOthersUseTooIsNoticed() {
    String text =
        ProfileText.of(
            new ProfileFigures()
                .layer(ProfileLayers.ENCODE, 2)
                .layer(ProfileLayers.WRITE, 5)
                .layer(ProfileLayers.FORCE, 200, 4000)
                .report(ProfileFigures.DISK, 100));

    assertThat(text.replaceAll("\\s+", " "))
        .contains("One force of a hundred takes 20 x the median or more: something else uses");
  }

  @Test
  void aLayerThatFailedIsNamedWithItsError() {
    String text =
        ProfileText.of(
            new ProfileFigures()
                .layer(ProfileLayers.ENCODE, 2)
                .failed(ProfileLayers.WRITE, "No space left on device")
                .report(ProfileFigures.DISK, 100));

    assertThat(text).contains("+ write: failed: No space left on device\n");
  }

  @Test
  void theChartIsWellFormedWhateverTheDirectoryIsCalled() throws Exception {
    String svg = ProfileChart.of(ProfileFigures.flash().report(ProfileFigures.DISK, 100));

    Document document =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
    assertThat(document.getDocumentElement().getNodeName()).isEqualTo("svg");
    assertThat(document.getElementsByTagName("path").getLength()).isEqualTo(6);
    assertThat(document.getElementsByTagName("title").item(0).getTextContent())
        .isEqualTo("Write path of /data/<&\">\\u{1b}[2J");
    assertThat(svg)
        .contains("prefers-color-scheme:dark", "ext4 on /dev/sda1", "2026-11-30")
        .contains(">200 us <", "p99 200, 5,000/s");
  }

  @Test
  void barsOfTheChartGrowWithTheLogarithm() {
    String svg =
        ProfileChart.of(
            new ProfileFigures()
                .layer(ProfileLayers.ENCODE, 1)
                .layer(ProfileLayers.WRITE, 10)
                .layer(ProfileLayers.FORCE, 100)
                .report(ProfileFigures.DISK, 100));

    // Two decades over 490 points.
    assertThat(svg)
        .contains("<rect class=\"r\" x=\"210\" y=\"112\" width=\"1.0\"")
        .contains("<rect class=\"r\" x=\"210\" y=\"146\" width=\"245.0\"")
        .contains("<rect class=\"f\" x=\"210\" y=\"180\" width=\"490.0\"");
  }

  @Test
  void aChartOfNothingIsStillAPicture() {
    assertThat(ProfileChart.of(new ProfileFigures().report(ProfileFigures.DISK, 100)))
        .startsWith("<svg ")
        .endsWith("</svg>\n");
  }
}
