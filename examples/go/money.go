package main

import (
	"fmt"
	"strconv"
	"strings"
)

// Sen is an amount of money. It is read from the text of a JSON number or string, so that no float ever holds it.
type Sen int64

// parseSen reads an amount such as 9.75 or 10.
func parseSen(text string) (Sen, error) {
	digits, isNegative := strings.TrimPrefix(text, "-"), strings.HasPrefix(text, "-")
	whole, fraction, _ := strings.Cut(digits, ".")
	fraction = strings.TrimRight(fraction, "0")
	if whole == "" || len(fraction) > 2 || strings.Trim(whole+fraction, "0123456789") != "" {
		return 0, fmt.Errorf("%q is not an amount of money", text)
	}
	value, err := strconv.ParseInt(whole+(fraction + "00")[:2], 10, 64)
	if isNegative {
		value = -value
	}
	return Sen(value), err
}

// UnmarshalJSON reads 9.75 and "9.75" alike.
func (s *Sen) UnmarshalJSON(text []byte) (err error) {
	*s, err = parseSen(strings.Trim(string(text), `"`))
	return err
}

func (s Sen) String() string {
	if s < 0 {
		return "-" + (-s).String()
	}
	return fmt.Sprintf("%d.%02d", s/100, s%100)
}
