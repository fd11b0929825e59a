package cairn.bench.start;

/** Does nothing. */
public final class EmptyMain {
  private EmptyMain() {}

  public static void main(String[] args) {}
}
