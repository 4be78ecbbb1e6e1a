// A day of a shop, against the simulator with scenario.yaml. Exit code 0 when everything is as it should be.
package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const (
	speed    = 5 // of the clock in scenario.yaml; yours is 1
	patience = 20 * time.Second
)

var expected = []string{"Succesful", "Succesful", "Failed", "Succesful", "refused", "Succesful"}

func main() {
	isWell, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
	}
	if err != nil || !isWell {
		os.Exit(1)
	}
}

// run pays, receives, reconciles, and lets the simulator try to fool the receiver.
func run() (bool, error) {
	client, err := newClient(os.Getenv("RESELLER_BASE_URL"), os.Getenv("RESELLER_API_KEY"), os.Getenv("RESELLER_API_SECRET"))
	if err != nil {
		return false, err
	}
	shop := newShop(client, speed)
	receiver := &Receiver{shop: shop, seen: map[string]bool{}}
	address, err := receiver.listen()
	if err != nil {
		return false, err
	}
	if err := setWebhook(client, receiver, address); err != nil {
		return false, err
	}
	if err := trade(client, shop, address); err != nil {
		return false, err
	}
	isWell := true
	for place, order := range shop.placed {
		more := order.remarks
		if order.status == "Succesful" {
			more = "cost " + order.cost.String()
		}
		fmt.Printf("%s %s %s: %s, %s\n", order.product, order.account, order.amount, order.status, more)
		isWell = isWell && order.status == expected[place]
	}

	if err := simulator(nil, "resellers/RS001/deposits", map[string]string{"amount": "250.00"}); err != nil {
		return false, err
	}
	var deposit Sen
	select {
	case event := <-shop.events:
		deposit = event.Data.Amount
	case <-time.After(patience):
		return false, errors.New("no webhook came")
	}
	fmt.Printf("deposit of %s: its webhook is genuine\n", deposit)

	result, err := reconcile(client, shop.placed, []Sen{deposit}, day(-1)+" - "+day(1), 2)
	if err != nil {
		return false, err
	}
	fmt.Printf("reconciled %d payments and %d entries: %d differences\n", result.payments, result.entries, len(result.differences))
	for _, line := range result.differences {
		fmt.Println("difference:", line)
	}

	wrong, err := fooled()
	if err != nil {
		return false, err
	}
	verdict := "all answered rightly"
	if len(wrong) > 0 {
		verdict = strings.Join(wrong, ", ")
	}
	fmt.Println("forged, stale and repeated messages:", verdict)
	return isWell && len(result.differences) == 0 && len(wrong) == 0, nil
}

// setWebhook registers the receiver. The secret is shown when the webhook is created and by a rotation: yours is stored
// then.
func setWebhook(client *Client, receiver *Receiver, address string) error {
	var webhook struct {
		Secret string `json:"webhook_secret"`
	}
	body := map[string]string{"url": address + "/webhooks"}
	if err := client.read(&webhook, http.MethodPut, "/v2/balance-webhook", nil, body); err != nil {
		return err
	}
	if webhook.Secret == "" {
		if err := client.read(&webhook, http.MethodPost, "/v2/balance-webhook/rotate-secret", nil, nil); err != nil {
			return err
		}
	}
	secret, err := hex.DecodeString(webhook.Secret)
	receiver.setSecret(secret)
	return err
}

// trade sells five things with callbacks by POST, and one with callbacks by GET.
func trade(client *Client, shop *Shop, address string) error {
	for _, batch := range []struct {
		method string
		orders []*Order
	}{
		{http.MethodPost, []*Order{
			{product: "RELOAD", account: "0123456789", amount: 10_00},
			{product: "ELECTRIC", account: "210012345678", amount: 100_00},
			{product: "RELOAD", account: "0198765432", amount: 20_00},
			{product: "RELOAD", account: "0111111111", amount: 5_00},
			{product: "RELOAD", account: "0123456789", amount: 7_00},
		}},
		{http.MethodGet, []*Order{
			{product: "DATA", account: "0123456789", amount: 10_00, extras: map[string]string{"subproduct_code": "D10W"}},
		}},
	} {
		var answer struct{}
		query := url.Values{"url": {address + "/callbacks"}, "method": {batch.method}}
		if err := client.read(&answer, http.MethodPost, "/v2/callback-url", query, nil); err != nil {
			return err
		}
		for _, order := range batch.orders {
			random := make([]byte, 16)
			if _, err := rand.Read(random); err != nil {
				return err
			}
			order.refid = hex.EncodeToString(random)
			if err := shop.place(order); err != nil {
				return err
			}
		}
		if err := shop.settle(patience); err != nil {
			return err
		}
	}
	return nil
}

// day is one in GMT+8, so many days after today.
func day(after int) string {
	return time.Now().In(time.FixedZone("GMT+8", 8*60*60)).AddDate(0, 0, after).Format("2006-01-02")
}

// fooled has the simulator forge messages, and names those that the receiver answered wrongly.
func fooled() ([]string, error) {
	var answer struct {
		Probes []struct{ Probe, Verdict string }
	}
	if err := simulator(&answer, "probes", map[string]string{"reseller": "RS001"}); err != nil {
		return nil, err
	}
	var wrong []string
	for _, one := range answer.Probes {
		if one.Verdict != "ok" {
			wrong = append(wrong, one.Probe)
		}
	}
	return wrong, nil
}

// simulator does what no client can: somebody pays money into the wallet, somebody forges messages.
func simulator(result any, path string, content any) error {
	body, err := json.Marshal(content)
	if err != nil {
		return err
	}
	address := os.Getenv("RESELLER_SIM_URL") + "/sandboxes/default/" + path
	response, err := http.Post(address, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if result == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(result)
}
