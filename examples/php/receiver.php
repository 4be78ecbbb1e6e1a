<?php
// Receives callbacks of payments and webhooks: checks, puts into a queue, and answers at once. A router for PHP's own
// server here; behind a real one yours is the same. Let that admit the service's addresses only.

declare(strict_types=1);

require_once __DIR__ . '/money.php';
require_once __DIR__ . '/store.php';
require_once __DIR__ . '/webhooks.php';

/** The status to answer. What we do not know, or ordered otherwise, the service did not send. */
function callback(Store $store, array $payment): int
{
    $order = $store->order((string) ($payment['refid'] ?? ''));
    if ($order === null) {
        return 404;
    }
    $told = [$payment['product'] ?? '', $payment['account'] ?? '', sen($payment['amount'] ?? '')];
    if ($told !== [$order->product, $order->account, $order->amount]) {
        return 400;
    }
    $store->enqueue('callbacks', ['refid' => $order->refid, 'status' => (string) ($payment['status'] ?? '')]);
    return 200;
}

/** The status to answer. An event comes again after a lost answer: it counts once. */
function webhook(Store $store, string $body): int
{
    $secret = $store->secret();
    $names = ['HTTP_WEBHOOK_ID', 'HTTP_WEBHOOK_TIMESTAMP', 'HTTP_WEBHOOK_SIGNATURE'];
    [$id, $sent, $signatures] = array_map(fn (string $name): string => $_SERVER[$name] ?? '', $names);
    if ($secret === '' || !is_genuine($secret, $id, $sent, $signatures, $body)) {
        return 401;
    }
    $event = json_decode($body, true, flags: JSON_THROW_ON_ERROR);
    if ($store->isFirst($event['id'])) {
        $store->enqueue('events', $event);
    }
    return 204;
}

/** Routes a request. */
function answer(Store $store): int
{
    $body = file_get_contents('php://input');
    switch ($_SERVER['REQUEST_METHOD'] . ' ' . parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH)) {
        case 'POST /callbacks':
            return callback($store, json_decode($body, true, flags: JSON_THROW_ON_ERROR)['data']);
        case 'GET /callbacks':
            return callback($store, json_decode($_GET['message'] ?? '', true, flags: JSON_THROW_ON_ERROR));
        case 'POST /webhooks':
            return webhook($store, $body);
        default:
            return 404;
    }
}

try {
    http_response_code(answer(new Store((string) getenv('SHOP_FOLDER'))));
} catch (JsonException | TypeError | UnexpectedValueException) { // not what the service sends
    http_response_code(400);
}
