/**
 * OpenTelemetry and the box: a tracer whose open spans survive any death, processors for the
 * OpenTelemetry SDK and its agent, and a dead run's report as telemetry.
 */
@NullMarked
package cairn.otel;

import org.jspecify.annotations.NullMarked;
