package cairn;

import cairn.format.Secrets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What is not recorded: secrets, by the key of a value, by the form of a text, and by rules of the
 * application. In place of each stands {@code <redacted>}, counted in {@code redacted}.
 *
 * <p>Applied before a byte reaches the box, to breadcrumbs, scope fields, span names and
 * attributes, and to the message of an uncaught exception. Immutable; any thread.
 *
 * <pre>{@code
 * Recorder.builder("orders")
 *     .redaction(Redaction.standard().keys("iban").allow("token_endpoint"))
 *     .open();
 * }</pre>
 */
public final class Redaction {
  static {
    // Not a lambda: the first one costs a starting JVM some milliseconds.
    Secrets.access(new Opening());
  }

  private static final Redaction STANDARD = new Redaction(Secrets.STANDARD, "standard");
  private static final Redaction NONE = new Redaction(Secrets.NONE, "none");

  final Secrets secrets;
  private final String text;

  private Redaction(Secrets secrets, String text) {
    this.secrets = secrets;
    this.text = text;
  }

  /**
   * {@return the default}
   *
   * <p>Keys, at any depth, in any case and joining ({@code apiKey}, {@code X-API-KEY}, {@code
   * api_key}): those that contain password, passwd, passphrase, secret, authorization, credential,
   * api key, access key, private key or cookie; those that end in token, pwd, jwt, session id, card
   * number, credit card, db pass or user pass; those with a word cvv, cvc or ssn; and the keys auth
   * and pass. Their values are redacted whole, but for true, false and null.
   *
   * <p>Parts of texts: card numbers with a right check digit (14 to 19 digits, in groups or not;
   * also as a long or a double), bearer tokens, JSON web tokens, private keys in PEM, {@code
   * user:password} in URLs, and what follows {@code password=}, {@code "secret":}, {@code
   * access_token=}, {@code Cookie:} and their like.
   */
  public static Redaction standard() {
    return STANDARD;
  }

  /** {@return nothing is redacted} */
  public static Redaction none() {
    return NONE;
  }

  /**
   * Values under more keys. Keys only: names in texts, such as {@code iban=...} in a message, are
   * those of {@link #standard}; a {@link #rule} finds others.
   *
   * @param names each is one or more whole words of a key, in any case and joining: {@code
   *     "customer id"} is found in {@code customerId} and in {@code NEW_CUSTOMER_ID}
   * @return a copy that redacts these too
   * @throws IllegalArgumentException if a name has no letter or digit
   */
  public Redaction keys(String... names) {
    return new Redaction(
        secrets.withKeys(checked(names)), text + ", keys=" + Arrays.toString(names));
  }

  /**
   * Keys that are not secret although they look like it.
   *
   * @param names whole keys, in any case and joining
   * @return a copy that records these; secrets by their form are redacted there all the same
   * @throws IllegalArgumentException if a name has no letter or digit
   */
  public Redaction allow(String... names) {
    return new Redaction(
        secrets.withAllowed(checked(names)), text + ", allow=" + Arrays.toString(names));
  }

  /**
   * A rule of the application, asked for each text that is recorded as a value, message, name or
   * category; after the rules that are there already, before keys and forms.
   *
   * @param rule called on recording threads, by many at once
   * @return a copy that asks it
   */
  public Redaction rule(Rule rule) {
    Objects.requireNonNull(rule, "rule");
    return new Redaction(secrets.withRule(rule::apply), text + ", rule=" + rule);
  }

  private static List<String> checked(String[] names) {
    for (String name : names) {
      Objects.requireNonNull(name, "name");
    }
    return List.of(names);
  }

  @Override
  public String toString() {
    return "Redaction{" + text + '}';
  }

  private static final class Opening implements Secrets.Access {
    @Override
    public Secrets of(Object redaction) {
      return ((Redaction) redaction).secrets;
    }
  }

  /** Decides on one text. */
  @FunctionalInterface
  public interface Rule {
    /**
     * Called before {@code text} is recorded. What it throws is not passed on: the text is redacted
     * then.
     *
     * @param key nearest key, if there is one
     * @param text the text; of a text longer than can be recorded, its beginning
     * @return the text if it may be recorded; else what to record instead; null for {@code
     *     <redacted>}
     */
    @Nullable String apply(@Nullable String key, String text);
  }
}
