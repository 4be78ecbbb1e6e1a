<?php
// Money is an int of sen, since 0.1 + 0.2 is not 0.3. json_decode makes a float of 9.75, whose text is "9.75" again:
// take the text at once, and never add or multiply the float.

declare(strict_types=1);

/** The sen of an amount such as "9.75", 9.75 or 10. */
function sen(string|int|float $amount): int
{
    $text = is_float($amount) ? json_encode($amount) : (string) $amount;
    if (!preg_match('/^(-?\d+)(?:\.(\d{1,2})0*)?$/D', $text, $found)) {
        throw new UnexpectedValueException("$text is not an amount of money");
    }
    return (int) ($found[1] . str_pad($found[2] ?? '', 2, '0'));
}

/** The text of some sen, with two decimals. */
function money(int $sen): string
{
    return sprintf('%s%d.%02d', $sen < 0 ? '-' : '', intdiv(abs($sen), 100), abs($sen) % 100);
}
