package main

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"
)

// sign sets the four headers of a request. The query is the text after "?" as it is sent, sorted by key; the secret is
// what the Base64 of the service decodes to. Every call draws a new nonce, so that a request that is sent again is
// signed again.
func sign(headers http.Header, key string, secret []byte, method, query string, body []byte) error {
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		return err
	}
	timestamp, nonce := strconv.FormatInt(time.Now().Unix(), 10), hex.EncodeToString(random)
	hash := sha256.Sum256(body)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("v1:" + timestamp + ":" + nonce + ":" + method + ":" + query + ":" +
		base64.StdEncoding.EncodeToString(hash[:])))
	headers.Set("X-Api-Key", key)
	headers.Set("X-Timestamp", timestamp)
	headers.Set("X-Nonce", nonce)
	headers.Set("X-Signature", "v1="+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return nil
}
