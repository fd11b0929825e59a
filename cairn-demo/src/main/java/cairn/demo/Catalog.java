package cairn.demo;

import cairn.Recorder;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.http.HttpStatus;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;
import org.springframework.web.server.ResponseStatusException;

/** Products. Makes them, and the customers, at the start. */
@Repository
class Catalog {
  private static final int PAGE = 20;
  private static final List<String> SIZES = List.of("small", "large", "folding", "light", "warm");
  private static final List<String> THINGS =
      List.of("tent", "lamp", "rope", "stove", "map", "compass", "boot", "flask", "sock", "tarp");

  private final Sql sql;

  record Product(long id, String name, String category, BigDecimal price, int stock) {}

  Catalog(
      Sql sql,
      JdbcTemplate jdbc,
      Recorder recorder,
      @Value("${shop.products}") int products,
      @Value("${shop.customers}") int customers) {
    this.sql = sql;
    fill(jdbc, products, customers);
    recorder
        .scope()
        .context("shop", Map.of("products", products, "customers", customers, "currency", "EUR"));
  }

  private static void fill(JdbcTemplate jdbc, int products, int customers) {
    List<Object[]> rows = new ArrayList<>();
    for (int i = 1; i <= products; i++) {
      String thing = THINGS.get(i % THINGS.size());
      String name = SIZES.get(i / THINGS.size() % SIZES.size()) + " " + thing + " no. " + i;
      rows.add(new Object[] {i, name, thing, BigDecimal.valueOf(199 + i * 37L % 20_000, 2)});
    }
    jdbc.batchUpdate(
        "INSERT INTO products (id, name, category, price, stock) VALUES (?, ?, ?, ?, 1000000)",
        rows);
    rows.clear();
    for (int i = 1; i <= customers; i++) {
      rows.add(new Object[] {i, "customer no. " + i});
    }
    jdbc.batchUpdate("INSERT INTO customers (id, name) VALUES (?, ?)", rows);
  }

  /** {@return that page of the products; the first is 1} */
  List<Product> page(int number) {
    return sql.list(
        Product.class,
        "SELECT id, name, category, price, stock FROM products ORDER BY id LIMIT ? OFFSET ?",
        PAGE,
        (number - 1) * PAGE);
  }

  Product product(long id) {
    return sql
        .list(
            Product.class, "SELECT id, name, category, price, stock FROM products WHERE id = ?", id)
        .stream()
        .findFirst()
        .orElseThrow(
            () -> new ResponseStatusException(HttpStatus.NOT_FOUND, "no such product: id=" + id));
  }

  List<Product> search(String text) {
    return sql.list(
        Product.class,
        "SELECT id, name, category, price, stock FROM products"
            + " WHERE LOWER(name) LIKE '%' || LOWER(?) || '%' ORDER BY price LIMIT ?",
        text,
        PAGE);
  }
}
