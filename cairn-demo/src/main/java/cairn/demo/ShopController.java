package cairn.demo;

import cairn.OpenSpan;
import cairn.demo.Catalog.Product;
import cairn.demo.Orders.Line;
import cairn.demo.Orders.Order;
import cairn.demo.Payments.Payment;
import java.util.List;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestAttribute;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** The shop's HTTP interface. The header {@code X-User} is the customer's id. */
@RestController
class ShopController {
  private final Catalog catalog;
  private final Orders orders;
  private final Payments payments;
  private final Export export;

  record CartLine(long productId, int quantity) {}

  record PaymentRequest(long orderId) {}

  ShopController(Catalog catalog, Orders orders, Payments payments, Export export) {
    this.catalog = catalog;
    this.orders = orders;
    this.payments = payments;
    this.export = export;
  }

  @GetMapping("/products")
  List<Product> products(@RequestParam(defaultValue = "1") int page) {
    return catalog.page(page);
  }

  @GetMapping("/products/{id}")
  Product product(@PathVariable long id) {
    return catalog.product(id);
  }

  @GetMapping("/search")
  List<Product> search(@RequestParam String q) {
    return catalog.search(q);
  }

  @PostMapping("/cart")
  List<Line> addToCart(@RequestHeader("X-User") long customer, @RequestBody CartLine line) {
    Product product = catalog.product(line.productId());
    return orders.addToCart(customer, product.id(), line.quantity());
  }

  @PostMapping("/orders")
  @ResponseStatus(HttpStatus.CREATED)
  Order placeOrder(
      @RequestHeader("X-User") long customer,
      @RequestAttribute(RecordedRequests.SPAN) OpenSpan span) {
    Order order = orders.place(customer);
    span.set("order.id", order.id());
    return order;
  }

  @GetMapping("/orders/{id}")
  Order order(@PathVariable long id, @RequestAttribute(RecordedRequests.SPAN) OpenSpan span) {
    span.set("order.id", id);
    return orders.order(id);
  }

  @PostMapping("/payments")
  @ResponseStatus(HttpStatus.CREATED)
  Payment pay(
      @RequestBody PaymentRequest request, @RequestAttribute(RecordedRequests.SPAN) OpenSpan span) {
    span.set("order.id", request.orderId());
    return payments.pay(orders.order(request.orderId()));
  }

  @PostMapping("/export")
  Export.Summary export(@RequestAttribute(RecordedRequests.SPAN) OpenSpan span) {
    return export.run(span);
  }
}
