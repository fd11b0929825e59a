package cairn.demo;

import java.math.BigDecimal;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.server.ResponseStatusException;

/** Carts, and the orders that they become. */
@Repository
class Orders {
  private static final Logger log = LoggerFactory.getLogger(Orders.class);

  private final Sql sql;

  record Line(long productId, int quantity, BigDecimal price) {}

  record Order(long id, long customerId, BigDecimal total, List<Line> lines) {}

  private record Head(long customerId, BigDecimal total) {}

  Orders(Sql sql) {
    this.sql = sql;
  }

  /** {@return the cart with that added} */
  List<Line> addToCart(long customer, long product, int quantity) {
    sql.update(
        "INSERT INTO cart (customer_id, product_id, quantity) VALUES (?, ?, ?)",
        customer,
        product,
        quantity);
    return cart(customer);
  }

  private List<Line> cart(long customer) {
    // In order of product: transactions then lock its rows in one order, and never deadlock.
    return sql.list(
        Line.class,
        "SELECT product_id, SUM(quantity) AS quantity, price FROM cart"
            + " JOIN products ON product_id = products.id WHERE customer_id = ?"
            + " GROUP BY product_id, price ORDER BY product_id",
        customer);
  }

  /** Makes an order of the cart, in one transaction. */
  @Transactional
  public Order place(long customer) {
    List<Line> lines = cart(customer);
    if (lines.isEmpty()) {
      throw new ResponseStatusException(
          HttpStatus.CONFLICT, "the cart is empty: customer=" + customer);
    }
    BigDecimal total = BigDecimal.ZERO;
    for (Line line : lines) {
      total = total.add(line.price().multiply(BigDecimal.valueOf(line.quantity())));
    }
    long id = sql.insert("INSERT INTO orders (customer_id, total) VALUES (?, ?)", customer, total);
    for (Line line : lines) {
      sql.update(
          "INSERT INTO order_lines (order_id, product_id, quantity, price) VALUES (?, ?, ?, ?)",
          id,
          line.productId(),
          line.quantity(),
          line.price());
      int taken =
          sql.update(
              "UPDATE products SET stock = stock - ? WHERE id = ? AND stock >= ?",
              line.quantity(),
              line.productId(),
              line.quantity());
      if (taken == 0) {
        throw new ResponseStatusException(
            HttpStatus.CONFLICT, "out of stock: product=" + line.productId());
      }
    }
    sql.update("DELETE FROM cart WHERE customer_id = ?", customer);
    log.info("order {} placed: {} lines, {} EUR", id, lines.size(), total);
    return new Order(id, customer, total, lines);
  }

  Order order(long id) {
    Head head =
        sql.list(Head.class, "SELECT customer_id, total FROM orders WHERE id = ?", id).stream()
            .findFirst()
            .orElseThrow(
                () -> new ResponseStatusException(HttpStatus.NOT_FOUND, "no such order: id=" + id));
    List<Line> lines =
        sql.list(
            Line.class,
            "SELECT product_id, quantity, price FROM order_lines WHERE order_id = ?",
            id);
    return new Order(id, head.customerId(), head.total(), lines);
  }
}
