package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const tolerance = 5 * time.Minute

// isGenuine tells whether the service sent these bytes within the last five minutes: the scheme of Standard Webhooks,
// with the bytes that the hexadecimal secret encodes as key.
func isGenuine(secret []byte, headers http.Header, body []byte) bool {
	id, sent := headers.Get("webhook-id"), headers.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(sent, 10, 64)
	if age := time.Since(time.Unix(seconds, 0)); err != nil || age > tolerance || age < -tolerance {
		return false
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(id + "." + sent + "."))
	mac.Write(body)
	expected := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	for _, one := range strings.Split(headers.Get("webhook-signature"), " ") {
		if hmac.Equal(expected, []byte(one)) {
			return true
		}
	}
	return false
}
