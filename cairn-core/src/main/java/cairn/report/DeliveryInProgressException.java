package cairn.report;

import java.io.IOException;

/** Another process delivers at this moment; see {@link Run#deliver}. To be tried again. */
public final class DeliveryInProgressException extends IOException {
  private static final long serialVersionUID = 1L;

  DeliveryInProgressException(IOException cause) {
    super(cause.getMessage(), cause);
  }
}
