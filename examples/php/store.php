<?php
// What the shop and its receiver share, which are two processes: files of one folder here, yours are tables.

declare(strict_types=1);

/** What a customer buys. The refid is drawn once and names the payment for ever; amounts are in sen. */
final class Order
{
    public string $status = 'new';
    public string $remarks = '';
    public int $cost = 0;
    public int $asked = 0;
    public int $failures = 0;
    public bool $isOpen = true;
    public float $askAt = 0.0;
    public float $politeAt = 0.0; // not to be asked about before

    public function __construct(
        public readonly string $refid,
        public readonly string $product,
        public readonly string $account,
        public readonly int $amount,
        public readonly array $extras = [],
    ) {
    }

    /** The body of every POST /v2/topup for this order: the same one, or it would be another order. */
    public function request(): array
    {
        $body = ['refid' => $this->refid, 'product' => $this->product, 'account' => $this->account];
        $body['amount'] = money($this->amount);
        return $this->extras === [] ? $body : $body + ['extras' => $this->extras];
    }
}

final class Store
{
    /** How much was read of each queue. */
    private array $read = ['callbacks' => 0, 'events' => 0];

    public function __construct(private string $folder)
    {
    }

    /** Store an order: whole or not at all, since the receiver may read it at any time. */
    public function put(Order $order): void
    {
        $path = $this->path('order', $order->refid);
        file_put_contents("$path.new", serialize($order));
        rename("$path.new", $path);
    }

    public function order(string $refid): ?Order
    {
        $text = @file_get_contents($this->path('order', $refid));
        return $text === false ? null : unserialize($text);
    }

    /** Whether this is the first time that this event is seen: creating a file succeeds once. */
    public function isFirst(string $event): bool
    {
        return @fopen($this->path('event', $event), 'x') !== false;
    }

    public function setSecret(string $secret): void
    {
        file_put_contents("$this->folder/secret", $secret, LOCK_EX);
    }

    /** The secret of webhooks, empty when there is none yet. */
    public function secret(): string
    {
        return (string) @file_get_contents("$this->folder/secret");
    }

    /** Add to the end of a queue: `callbacks` or `events`. */
    public function enqueue(string $queue, array $item): void
    {
        file_put_contents("$this->folder/$queue", json_encode($item) . "\n", FILE_APPEND | LOCK_EX);
    }

    /** The next of a queue, waited for until this time; null when there is none by then. */
    public function next(string $queue, float $until): ?array
    {
        while (true) {
            $text = (string) @file_get_contents("$this->folder/$queue", false, null, $this->read[$queue]);
            $end = strpos($text, "\n");
            if ($end !== false) {
                $this->read[$queue] += $end + 1;
                return json_decode(substr($text, 0, $end), true);
            }
            if (microtime(true) >= $until) {
                return null;
            }
            usleep(10_000);
        }
    }

    /** A file's name from one that somebody else chose. */
    private function path(string $kind, string $name): string
    {
        return "$this->folder/$kind-" . hash('sha256', $name);
    }
}
