package cairn.demo;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

/** Answers every exception with a body of its own: {@link RecordedRequests} says why. */
@RestControllerAdvice
class Problems extends ResponseEntityExceptionHandler {
  private static final Logger log = LoggerFactory.getLogger(Problems.class);

  @ExceptionHandler
  ProblemDetail unexpected(Exception e) {
    log.error("request failed", e);
    return ProblemDetail.forStatus(HttpStatus.INTERNAL_SERVER_ERROR);
  }
}
