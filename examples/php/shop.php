<?php
// Orders, and what becomes of them: paid once each, asked about until their status is final.

declare(strict_types=1);

require_once __DIR__ . '/client.php';
require_once __DIR__ . '/money.php';
require_once __DIR__ . '/store.php';

/** The process that pays. `speed` is for clocks that run faster. */
final class Shop
{
    /** The service spells it with one s. "Refund" is what a payment becomes that was voided. */
    private const FINAL = ['Succesful', 'Failed', 'Refund'];
    private const POLL_S = 5;
    private const LONGEST_S = 60;

    /** @var array<string, Order> by refid, in the order in which they were placed */
    public array $orders = [];

    public function __construct(private Client $client, private Store $store, private int $speed = 1)
    {
    }

    /** Store an order and pay it. */
    public function place(Order $order): void
    {
        $this->orders[$order->refid] = $order;
        $this->store->put($order);
        $this->ask($order);
    }

    /** Ask until every order has its final status: when a callback says so, and every five seconds anyway. */
    public function settle(int $within): void
    {
        $end = microtime(true) + $within;
        while ($open = array_filter($this->orders, fn (Order $order): bool => $order->isOpen)) {
            usort($open, fn (Order $a, Order $b): int => $a->askAt <=> $b->askAt);
            if (microtime(true) > $end) {
                throw new RuntimeException("{$open[0]->refid} is still {$open[0]->status}");
            }
            if (microtime(true) >= $open[0]->askAt) {
                $this->ask($open[0]);
            } elseif ($heard = $this->store->next('callbacks', $open[0]->askAt)) {
                $this->hear($this->orders[$heard['refid']], $heard['status']);
            }
        }
    }

    /** Pay, or ask again, which is the same request: the service pays a refid once. */
    private function ask(Order $order): void
    {
        $order->asked++;
        try {
            [$status, $answer] = $this->client->call('POST', '/v2/topup', content: $order->request());
        } catch (Unanswered) {
            // It may have been paid: the same refid again, with doubled waits. A new refid would pay twice.
            $order->failures++;
            $order->askAt = microtime(true) + min(2 ** $order->failures, self::LONGEST_S) / $this->speed;
            return;
        }
        $payment = $answer['data'];
        $order->failures = 0;
        $order->remarks = $payment['remarks'];
        if ($status === 400) {
            $order->status = 'refused';
            $order->isOpen = false;
        } else {
            $order->status = $payment['status'];
            $order->cost = sen($payment['cost']);
            $order->isOpen = !in_array($order->status, self::FINAL, true);
            $order->askAt = microtime(true) + self::POLL_S / $this->speed;
            $order->politeAt = $order->asked === 1 && $order->status === 'Accepted' ? 0.0 : $order->askAt;
        }
        $this->store->put($order);
    }

    /** A callback is no proof, since it is not signed. It is a reason to ask now. */
    private function hear(Order $order, string $status): void
    {
        if (in_array($status, self::FINAL, true) && $status !== $order->status) {
            $order->isOpen = true;
            $order->askAt = max(microtime(true), $order->politeAt);
        }
    }
}
