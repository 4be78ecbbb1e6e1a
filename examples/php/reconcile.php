<?php
// Compares our records with the service's: payments with the history, the wallet with its statement.

declare(strict_types=1);

require_once __DIR__ . '/client.php';
require_once __DIR__ . '/money.php';

/** The history spells success with two s. */
const HISTORY_NAMES = ['Succesful' => 'Successful'];

/**
 * Compare a day, `yyyy-MM-dd` in GMT+8, or several, `yyyy-MM-dd - yyyy-MM-dd`, read in pages of this length. `deposits`
 * are in sen. How many payments and entries were read, and what differs, a sentence each.
 */
function reconcile(Client $client, array $orders, array $deposits, string $days, int $page): array
{
    $history = read_history($client, $days, $page);
    $statement = read_statement($client, $days, $page);
    $differences = [];
    $ours = array_filter($orders, fn (Order $order): bool => $order->status !== 'refused');
    foreach ($ours as $refid => $order) {
        array_push($differences, ...compare($order, $history[$refid] ?? null));
    }
    foreach (array_diff_key($history, $ours) as $refid => $_) {
        $differences[] = "$refid is in the history, and not in our records";
    }

    $spent = -array_sum([...amounts($statement, 'TRANSACTION'), ...amounts($statement, 'REFUND')]);
    $prices = array_sum(array_map(fn (array $one): int => sen($one['price']), $history));
    if ($spent !== $prices) {
        [$a, $b] = [money($spent), money($prices)];
        $differences[] = "the statement's payments come to $a, those of the history to $b";
    }
    // Each deposit counts once, so that a second one of the same amount is noticed.
    $paid_in = amounts($statement, 'DEPOSIT');
    foreach ($deposits as $amount) {
        $at = array_search($amount, $paid_in, true);
        if ($at === false) {
            $differences[] = 'a deposit of ' . money($amount) . ' is not in the statement';
        } else {
            unset($paid_in[$at]);
        }
    }
    foreach ($paid_in as $amount) {
        $differences[] = 'a deposit of ' . money($amount) . ' is in the statement, and not in our records';
    }
    return [count($history), count($statement), $differences];
}

/** The sen of all entries of a type. */
function amounts(array $statement, string $type): array
{
    $entries = array_filter($statement, fn (array $one): bool => $one['type'] === $type);
    return array_map(fn (array $one): int => sen($one['amount']), array_values($entries));
}

/** What differs between an order and its record in the history. */
function compare(Order $order, ?array $record): array
{
    if ($record === null) {
        return ["$order->refid is $order->status in our records, and not in the history"];
    }
    $pairs = [
        'status' => [HISTORY_NAMES[$order->status] ?? $order->status, $record['status_name']],
        'product' => [$order->product, $record['product_code']],
        'account' => [$order->account, $record['account']],
        'amount' => [money($order->amount), money(sen($record['amount']))],
        'cost' => [money($order->cost), money(sen($record['price']))],
    ];
    $found = [];
    foreach ($pairs as $name => [$a, $b]) {
        if ($a !== $b) {
            $found[] = "$order->refid: $name is $a, in the history $b";
        }
    }
    return $found;
}

/** All payments by refid: `offset` moves on until a page is not full. */
function read_history(Client $client, string $days, int $page): array
{
    $records = [];
    for ($offset = 0;; $offset += $page) {
        $query = ['date' => $days, 'limit' => $page, 'offset' => $offset];
        $found = $client->accepted('GET', '/v2/transactions', $query)['data'];
        $records = array_column($found, null, 'refid') + $records;
        if (count($found) < $page) {
            return $records;
        }
    }
}

/** All entries: `page` moves on until the last. By id, since a new entry moves those before it to the next page. */
function read_statement(Client $client, string $days, int $limit): array
{
    $entries = [];
    for ($page = 1;; $page++) {
        $query = ['date' => $days, 'limit' => $limit, 'page' => $page];
        $answer = $client->accepted('GET', '/v2/balance-statement', $query);
        $entries = array_column($answer['data'], null, 'id') + $entries;
        if ($page >= $answer['meta']['last_page']) {
            return $entries;
        }
    }
}
