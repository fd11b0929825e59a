package cairn.cli;

/** The {@code cairn} command. */
public final class Main {
  private Main() {}
}
