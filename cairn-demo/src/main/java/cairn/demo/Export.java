package cairn.demo;

import cairn.OpenSpan;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Service;

/** The price list of every customer: the slow request of the shop, some seconds. */
@Service
class Export {
  private static final Logger log = LoggerFactory.getLogger(Export.class);
  private static final int SAY_EVERY = 1_000;

  private final Sql sql;
  private final Payments payments;

  record Row(long customerId, String product, BigDecimal price) {}

  record Summary(long rows, long bytes, long checksum) {}

  Export(Sql sql, Payments payments) {
    this.sql = sql;
    this.payments = payments;
  }

  /** Keeps {@code span} up to date, so that the report of a death says how far it had come. */
  Summary run(OpenSpan span) {
    Csv csv = new Csv(span);
    sql.forEach(
        Row.class,
        csv::add,
        "SELECT c.id AS customer_id, p.name AS product,"
            + " CAST(p.price * (100 - MOD(c.id, 10)) / 100 AS DECIMAL(10, 2)) AS price"
            + " FROM customers c CROSS JOIN products p WHERE MOD(p.id, 10) = 0");
    payments.askGateway("fetch settlements", BigDecimal.ZERO);
    payments.askGateway("fetch refunds", BigDecimal.ZERO);
    log.info("export done: {} rows, {} bytes", csv.rows, csv.bytes);
    return new Summary(csv.rows, csv.bytes, csv.checksum.getValue());
  }

  private static final class Csv {
    private final OpenSpan span;
    private final CRC32C checksum = new CRC32C();
    private long rows;
    private long bytes;

    Csv(OpenSpan span) {
      this.span = span;
    }

    void add(Row row) {
      byte[] line =
          (row.customerId() + ";" + row.product() + ";" + row.price() + "\n")
              .getBytes(StandardCharsets.UTF_8);
      checksum.update(line);
      bytes += line.length;
      if (++rows % SAY_EVERY == 0) {
        span.set("rows", rows);
      }
    }
  }
}
