package cairn.cli;

/** Quotes for a POSIX shell. */
final class ShellWord {
  private ShellWord() {}

  /** {@return {@code word}, in single quotes if a shell would read it as anything but itself} */
  static String quote(String word) {
    for (int i = 0; i < word.length(); i++) {
      char c = word.charAt(i);
      boolean plain =
          (c >= 'a' && c <= 'z')
              || (c >= 'A' && c <= 'Z')
              || (c >= '0' && c <= '9')
              || "/._-+=:,@%".indexOf(c) >= 0;
      if (!plain) {
        return "'" + word.replace("'", "'\\''") + "'";
      }
    }
    return word.isEmpty() ? "''" : word;
  }
}
