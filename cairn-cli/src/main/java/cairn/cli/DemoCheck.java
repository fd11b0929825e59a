package cairn.cli;

import cairn.report.Breadcrumb;
import cairn.report.Cause;
import cairn.report.UnfinishedSpan;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Compares what Cairn says about a killed shop with what the clients and the shop's {@link
 * DemoWitness} say. Each rule is exact, because a record call that returned is the promise, and
 * witness and clients only know of calls that returned:
 *
 * <ol>
 *   <li>A request whose answer was received, or whose span had ended, has left the breadcrumb that
 *       the shop adds before it answers: exactly one, as far as the trail reaches.
 *   <li>A request whose span had begun, and had not ended, is an open span with the name, the user
 *       and the id that the client sent; or, if death came within the call that ends the span, it
 *       has its breadcrumb.
 *   <li>A request whose span had ended is no open span, and no open span is of a request that never
 *       arrived.
 *   <li>The verdict is {@code KILLED}.
 * </ol>
 *
 * <p>So each request without an answer is an open span, unless its answer was lost on the way (rule
 * 1), death came before the shop's call to Cairn had returned, or it never reached the shop. These
 * are counted and shown.
 *
 * <p>How far the trail reaches: to the start, as long as all since the breadcrumb with which the
 * shop started fits into the ring. After that, take the first answer that was received and has its
 * breadcrumb in the newest 15/16 of the ring: each request sent after it left its breadcrumb behind
 * that one, and must have it, because a ring evicts in order. Older ones are not checked. (The last
 * 1/16 may have holes: writers that death stopped had begun to overwrite it.) Losing too much is no
 * excuse: those 15/16 must be there.
 *
 * @param summary one line that counts
 * @param problems what breaks a rule, one line each; empty if nothing does
 */
record DemoCheck(String summary, List<String> problems) {
  /** 15/16 of the shop's trail, which has the default size. */
  private static final long TRAIL_BYTES = (2 << 20) / 16 * 15;

  static DemoCheck of(
      List<DemoRequest> requests,
      DemoWitness witness,
      List<Breadcrumb> trail,
      List<UnfinishedSpan> openSpans,
      Cause cause) {
    return new Comparison(requests, witness, trail, openSpans).result(cause);
  }

  private static final class Comparison {
    private static final long FROM_THE_START = Long.MIN_VALUE;

    private final List<DemoRequest> requests;
    private final DemoWitness witness;
    private final Map<String, Breadcrumb> breadcrumbs = new HashMap<>();
    private final Map<String, UnfinishedSpan> spans = new HashMap<>();
    private final List<String> problems = new ArrayList<>();
    private final long solidFrom;

    private int answered;
    private int answeredOutOfReach;
    private int answeredWithBreadcrumb;
    private int answeredWithSpan;
    private int inFlight;
    private int inFlightWithSpan;
    private int answerLost;
    private int notBegun;
    private int notArrived;

    Comparison(
        List<DemoRequest> requests,
        DemoWitness witness,
        List<Breadcrumb> trail,
        List<UnfinishedSpan> openSpans) {
      this.requests = requests;
      this.witness = witness;
      this.solidFrom = solidFrom(trail);
      index(trail);
      indexSpans(openSpans);
    }

    /** {@return the position from which on the trail must be whole} */
    private long solidFrom(List<Breadcrumb> trail) {
      long newest = trail.isEmpty() ? 0 : trail.get(trail.size() - 1).position();
      long oldest = trail.isEmpty() ? 0 : trail.get(0).position();
      for (Breadcrumb breadcrumb : trail) {
        if ("shop".equals(breadcrumb.category())
            && "listening".equals(breadcrumb.message())
            && newest - breadcrumb.position() < TRAIL_BYTES) {
          return FROM_THE_START;
        }
      }
      if (newest - oldest < TRAIL_BYTES) {
        problems.add("trail is too short: bytes=" + (newest - oldest) + ", limit=" + TRAIL_BYTES);
      }
      return newest - TRAIL_BYTES;
    }

    private void index(List<Breadcrumb> trail) {
      for (Breadcrumb breadcrumb : trail) {
        if (!"http".equals(breadcrumb.category())) {
          continue;
        }
        String id = String.valueOf(breadcrumb.data().get("request.id"));
        Breadcrumb other = breadcrumbs.put(id, breadcrumb);
        if (other != null) {
          problems.add(
              "two breadcrumbs: request="
                  + id
                  + ", positions="
                  + other.position()
                  + " and "
                  + breadcrumb.position());
        }
      }
    }

    private void indexSpans(List<UnfinishedSpan> openSpans) {
      for (UnfinishedSpan span : openSpans) {
        if (!span.attributes().containsKey("request.id")) {
          continue; // Inside a request, such as waiting for the gateway.
        }
        String id = String.valueOf(span.attributes().get("request.id"));
        if (spans.put(id, span) != null) {
          problems.add("two open spans: request=" + id);
        }
        if (!witness.arrived().contains(id)) {
          problems.add("open span of a request that never arrived: request=" + id);
        }
      }
    }

    DemoCheck result(Cause cause) {
      Long reach = reachNanos();
      for (DemoRequest request : requests) {
        check(
            request,
            solidFrom == FROM_THE_START || (reach != null && request.sentNanos() - reach > 0));
      }
      if (cause != Cause.KILLED) {
        problems.add("wrong verdict: cause=" + cause + ", expected=" + Cause.KILLED);
      }
      return new DemoCheck(summary(), List.copyOf(problems));
    }

    /**
     * {@return when the first answer was received whose breadcrumb is where the trail is whole;
     * null if there is none}
     */
    private @Nullable Long reachNanos() {
      Long reach = null;
      for (DemoRequest request : requests) {
        Breadcrumb breadcrumb = breadcrumbs.get(request.id());
        if (request.isAnswered() && breadcrumb != null && breadcrumb.position() >= solidFrom) {
          long at = request.answeredNanos();
          // The difference, because nanoTime may overflow.
          reach = reach == null || at - reach < 0 ? (Long) at : reach;
        }
      }
      return reach;
    }

    private void check(DemoRequest request, boolean isInReach) {
      String id = request.id();
      boolean hasBreadcrumb = breadcrumbs.containsKey(id);
      UnfinishedSpan span = spans.get(id);
      boolean hasEnded = witness.ended().contains(id);

      if (request.isAnswered() && !witness.begun().contains(id)) {
        problems.add("answered, and the shop did not witness it: request=" + id);
      }
      if ((request.isAnswered() || hasEnded) && isInReach && !hasBreadcrumb) {
        problems.add(
            (request.isAnswered() ? "answered" : "ended")
                + " without a breadcrumb: request="
                + id
                + ", name="
                + request.name());
      }
      if (hasEnded && span != null) {
        problems.add("ended, and still an open span: request=" + id);
      }
      if (!hasEnded && witness.begun().contains(id) && span == null && !hasBreadcrumb) {
        problems.add("begun without an open span: request=" + id + ", name=" + request.name());
      }
      if (span != null
          && (!span.name().equals(request.name())
              || !request.user().equals(span.attributes().get("user")))) {
        problems.add(
            "open span of another request: request="
                + id
                + ", name="
                + span.name()
                + ", attributes="
                + span.attributes());
      }
      count(request, isInReach, hasBreadcrumb, span != null);
    }

    private void count(
        DemoRequest request, boolean isInReach, boolean hasBreadcrumb, boolean hasSpan) {
      if (request.isAnswered()) {
        if (!isInReach && !hasBreadcrumb) {
          answeredOutOfReach++;
          return;
        }
        answered++;
        answeredWithBreadcrumb += hasBreadcrumb ? 1 : 0;
        answeredWithSpan += hasSpan ? 1 : 0;
      } else if (hasSpan || (witness.begun().contains(request.id()) && !hasBreadcrumb)) {
        inFlight++;
        inFlightWithSpan += hasSpan ? 1 : 0;
      } else if (hasBreadcrumb) {
        answerLost++;
      } else if (witness.arrived().contains(request.id())) {
        notBegun++;
      } else {
        notArrived++;
      }
    }

    private String summary() {
      StringBuilder text = new StringBuilder("checked: ");
      text.append(count(answered, "answered request"));
      text.append(", ").append(count(answeredWithBreadcrumb, "breadcrumb"));
      text.append("; ").append(inFlight).append(" in flight");
      text.append(", ").append(count(inFlightWithSpan, "open span"));
      clause(text, answeredOutOfReach, "answered before the trail's oldest breadcrumb");
      clause(text, answeredWithSpan, "answered, the span not yet ended");
      clause(text, answerLost, "the answer lost on its way");
      clause(text, notBegun, "arrived, the span not yet begun");
      clause(text, notArrived, "had not reached the shop");
      return text.toString();
    }

    private static String count(int count, String what) {
      return count + " " + what + (count == 1 ? "" : "s");
    }

    private static void clause(StringBuilder text, int count, String what) {
      if (count > 0) {
        text.append("; ").append(count).append(' ').append(what);
      }
    }
  }
}
