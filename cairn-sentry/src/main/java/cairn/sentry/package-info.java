/**
 * Sentry and the box: sentry-java's scope and breadcrumbs survive any death, dead runs become
 * Sentry events, and the files that sentry-java itself left behind are read.
 */
@NullMarked
package cairn.sentry;

import org.jspecify.annotations.NullMarked;
