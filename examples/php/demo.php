<?php
// A day of a shop, against the simulator with scenario.yaml. Exit code 0 when everything is as it should be.

declare(strict_types=1);

require __DIR__ . '/shop.php';
require __DIR__ . '/reconcile.php';

const SPEED = 5; // of the clock in scenario.yaml; yours is 1
const PATIENCE_S = 20;
const EXPECTED = ['Succesful', 'Succesful', 'Failed', 'Succesful', 'refused', 'Succesful'];

/** Pay, receive, reconcile, and let the simulator try to fool the receiver. */
function main(Client $client, Store $store, string $address): int
{
    // The secret is shown when the webhook is created and by a rotation: yours is stored then.
    $webhook = $client->accepted('PUT', '/v2/balance-webhook', content: ['url' => "$address/webhooks"]);
    if (!isset($webhook['webhook_secret'])) {
        $webhook = $client->accepted('POST', '/v2/balance-webhook/rotate-secret');
    }
    $store->setSecret($webhook['webhook_secret']);

    $shop = new Shop($client, $store, SPEED);
    set_callback($client, $address, 'POST');
    foreach ([
        ['RELOAD', '0123456789', '10.00'],
        ['ELECTRIC', '210012345678', '100.00'],
        ['RELOAD', '0198765432', '20.00'],
        ['RELOAD', '0111111111', '5.00'],
        ['RELOAD', '0123456789', '7.00'],
    ] as [$product, $account, $amount]) {
        $shop->place(new Order('shop-' . bin2hex(random_bytes(16)), $product, $account, sen($amount)));
    }
    $shop->settle(PATIENCE_S);
    set_callback($client, $address, 'GET');
    $plan = ['subproduct_code' => 'D10W'];
    $shop->place(new Order('shop-' . bin2hex(random_bytes(16)), 'DATA', '0123456789', sen('10.00'), $plan));
    $shop->settle(PATIENCE_S);
    foreach ($shop->orders as $order) {
        $more = $order->status === 'Succesful' ? 'cost ' . money($order->cost) : $order->remarks;
        echo "$order->product $order->account ", money($order->amount), ": $order->status, $more\n";
    }

    simulator('resellers/RS001/deposits', ['amount' => '250.00']);
    $event = $store->next('events', microtime(true) + PATIENCE_S) ?? throw new RuntimeException('no webhook came');
    $deposit = sen($event['data']['amount']);
    echo 'deposit of ', money($deposit), ": its webhook is genuine\n";

    $days = day(-1) . ' - ' . day(1);
    [$payments, $entries, $differences] = reconcile($client, $shop->orders, [$deposit], $days, page: 2);
    echo "reconciled $payments payments and $entries entries: ", count($differences), " differences\n";
    foreach ($differences as $line) {
        echo "difference: $line\n";
    }

    $probes = simulator('probes', ['reseller' => 'RS001'])['probes'];
    $wrong = array_column(array_filter($probes, fn (array $one): bool => $one['verdict'] !== 'ok'), 'probe');
    echo 'forged, stale and repeated messages: ', implode(', ', $wrong) ?: 'all answered rightly', "\n";
    $statuses = array_map(fn (Order $order): string => $order->status, array_values($shop->orders));
    return $statuses === EXPECTED && $differences === [] && $wrong === [] ? 0 : 1;
}

/** Where callbacks of payments go from now on. */
function set_callback(Client $client, string $address, string $method): void
{
    $client->accepted('POST', '/v2/callback-url', ['url' => "$address/callbacks", 'method' => $method]);
}

/** A day in GMT+8, so many days after today. */
function day(int $after): string
{
    return gmdate('Y-m-d', time() + 8 * 3600 + $after * 86_400);
}

/** What no client can do: somebody pays money into the wallet, somebody forges messages. */
function simulator(string $path, array $content): array
{
    $url = getenv('RESELLER_SIM_URL') . "/sandboxes/default/$path";
    $http = ['method' => 'POST', 'header' => 'Content-Type: application/json', 'content' => json_encode($content)];
    return json_decode(file_get_contents($url, false, stream_context_create(['http' => $http])), true);
}

$folder = sys_get_temp_dir() . '/shop-' . bin2hex(random_bytes(8));
mkdir($folder, 0700);
$command = [PHP_BINARY, '-q', '-S', '127.0.0.1:0', __DIR__ . '/receiver.php'];
$variables = ['SHOP_FOLDER' => $folder] + getenv();
$server = proc_open($command, [2 => ['pipe', 'w']], $pipes, null, $variables);
try {
    // The server's first line names its address.
    preg_match('~http://[0-9.:]+~', (string) fgets($pipes[2]), $found) || throw new RuntimeException('no receiver');
    $client = new Client(...array_map(getenv(...), ['RESELLER_BASE_URL', 'RESELLER_API_KEY', 'RESELLER_API_SECRET']));
    $code = main($client, new Store($folder), $found[0]);
} catch (RuntimeException $error) {
    fwrite(STDERR, 'demo: ' . $error->getMessage() . "\n");
    $code = 1;
} finally {
    proc_terminate($server);
    array_map(unlink(...), glob("$folder/*"));
    rmdir($folder);
}
exit($code);
