<?php
// Talks to the service.

declare(strict_types=1);

require_once __DIR__ . '/signing.php';

/** No answer, or one that says nothing: the request may have been processed, and may not. */
final class Unanswered extends RuntimeException
{
}

/** The service takes no request of this kind from us: somebody has to look at it, and a retry changes nothing. */
final class Rejected extends RuntimeException
{
}

/** Signed requests with an API key. */
final class Client
{
    /** The service answers within 29 seconds, or with a 504. */
    private const TIMEOUT_S = 35;

    public function __construct(private string $url, private string $key, private string $secret)
    {
    }

    /** Send one request; the status, 200 or 400, and the JSON of the answer. */
    public function call(string $method, string $path, array $parameters = [], ?array $content = null): array
    {
        ksort($parameters);
        $query = http_build_query($parameters, '', '&', PHP_QUERY_RFC3986);
        $body = $content === null ? '' : json_encode($content, JSON_THROW_ON_ERROR);
        $headers = signed_headers($this->key, $this->secret, $method, $query, $body);
        $headers[] = 'Content-Type: application/json';
        $address = $this->url . $path . ($query === '' ? '' : "?$query");
        $context = stream_context_create(['http' => [
            'method' => $method,
            'header' => $headers,
            'content' => $body,
            'timeout' => self::TIMEOUT_S,
            'ignore_errors' => true, // the body of a 400 is an answer, too
            'follow_location' => 0,
        ]]);
        $answer = @file_get_contents($address, false, $context);
        if ($answer === false || !preg_match('/^HTTP\S+ (\d{3})/', $http_response_header[0] ?? '', $found)) {
            throw new Unanswered("$method $path: " . (error_get_last()['message'] ?? 'no answer'));
        }
        $status = (int) $found[1];
        if ($status >= 500 || $status === 429) {
            throw new Unanswered("$method $path: $status");
        }
        if ($status !== 200 && $status !== 400) {
            throw new Rejected("$method $path was answered $status: $answer");
        }
        $json = json_decode($answer, true);
        if (!is_array($json)) { // also what was cut off in its middle
            throw new Unanswered("$method $path: no JSON");
        }
        return [$status, $json];
    }

    /** The JSON of a GET, or of a change of settings. */
    public function accepted(string $method, string $path, array $parameters = [], ?array $content = null): array
    {
        [$status, $json] = $this->call($method, $path, $parameters, $content);
        if ($status !== 200) {
            throw new Rejected("$method $path was answered $status: " . json_encode($json));
        }
        return $json;
    }
}
