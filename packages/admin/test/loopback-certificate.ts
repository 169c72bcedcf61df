/** A certificate of 127.0.0.1, made for tests and signed by itself: only a client that is given it trusts it. */

/** The private key of the certificate, PEM. */
export const loopbackKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgnMDhkoKADTwnjrpQ
s8NraaTbw3999yAHHvzYUXLVnpChRANCAATWZNAfViB6F+HPJ9iZpsIT6ZK663ST
tgX0Q4BfHlgsgQHIPCjYbx1slOuX3+2vIDHv7F54Ctgq3woZnSMl3XYU
-----END PRIVATE KEY-----
`

export const loopbackCertificate = `-----BEGIN CERTIFICATE-----
MIIBajCCARCgAwIBAgIBATAKBggqhkjOPQQDAjAbMRkwFwYDVQQDDBBsb29wYmFj
ay5leGFtcGxlMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAbMRkw
FwYDVQQDDBBsb29wYmFjay5leGFtcGxlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD
QgAE1mTQH1YgehfhzyfYmabCE+mSuut0k7YF9EOAXx5YLIEByDwo2G8dbJTrl9/t
ryAx7+xeeArYKt8KGZ0jJd12FKNDMEEwDwYDVR0RBAgwBocEfwAAATAPBgNVHRMB
Af8EBTADAQH/MB0GA1UdDgQWBBR0J50cJlZmGHDoevHYuPu9syUC8jAKBggqhkjO
PQQDAgNIADBFAiAYjtki7Kw8xxjK67GZfqxVQvA6F6qtT8IT3H7iuaRPCAIhAJ6I
RlJfMngLsSjf4RKl/apY2X2MMHD7/lqFxt0B6WE3
-----END CERTIFICATE-----
`
