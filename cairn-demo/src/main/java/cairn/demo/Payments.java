package cairn.demo;

import cairn.OpenSpan;
import cairn.Recorder;
import java.math.BigDecimal;
import java.util.concurrent.ThreadLocalRandom;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Service;

/** Charges orders through a payment gateway, which here only takes its time. */
@Service
class Payments {
  private static final Logger log = LoggerFactory.getLogger(Payments.class);

  private final Sql sql;
  private final Recorder recorder;
  private final long minMillis;
  private final long maxMillis;

  record Payment(long id, long orderId, BigDecimal amount) {}

  Payments(
      Sql sql,
      Recorder recorder,
      @Value("${shop.gateway.min-millis}") long minMillis,
      @Value("${shop.gateway.max-millis}") long maxMillis) {
    this.sql = sql;
    this.recorder = recorder;
    this.minMillis = minMillis;
    this.maxMillis = maxMillis;
  }

  Payment pay(Orders.Order order) {
    askGateway("charge card", order.total());
    long id =
        sql.insert(
            "INSERT INTO payments (order_id, amount) VALUES (?, ?)", order.id(), order.total());
    log.info("order {} paid: payment {}, {} EUR", order.id(), id, order.total());
    return new Payment(id, order.id(), order.total());
  }

  /** Waits for the gateway, under a span of its own: a child of the request's. */
  void askGateway(String what, BigDecimal amount) {
    try (OpenSpan span = recorder.begin(what)) {
      span.set("gateway", "pay.example").set("amount", amount.doubleValue());
      Thread.sleep(ThreadLocalRandom.current().nextLong(minMillis, maxMillis + 1));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for the gateway", e);
    }
  }
}
