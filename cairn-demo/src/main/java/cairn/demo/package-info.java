/**
 * A small web shop, wired to Cairn by hand: one recorder, a filter that keeps an open span for each
 * request, breadcrumbs for SQL, log lines and finished requests. Start at {@link cairn.demo.Shop},
 * then read {@code RecordedRequests}.
 */
@NullMarked
package cairn.demo;

import org.jspecify.annotations.NullMarked;
