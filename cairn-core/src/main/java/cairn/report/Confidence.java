package cairn.report;

/** How sure a verdict is. */
public enum Confidence {
  /** Nothing else explains the evidence. */
  CERTAIN,
  /** Another explanation would need a coincidence. */
  LIKELY,
  /** One of several explanations. */
  POSSIBLE,
  /** The evidence does not say. */
  UNKNOWN
}
