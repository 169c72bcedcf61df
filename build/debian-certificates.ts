/** Renewals of certificates on the machine of check:debian: those of an own authority, and those that certbot gets. */
import assert from 'node:assert/strict'
import type { Machine } from './debian-machine.ts'

/** A shell function: waits until nginx serves the certificate of a file. */
const serves = (name: string): string => `serves() {
  wanted=$(openssl x509 -noout -serial -in "$1")
  for _ in $(seq 150); do
    served=$(openssl s_client -connect 127.0.0.1:443 -servername ${name} < /dev/null 2> /dev/null | openssl x509 -noout -serial)
    [ "$served" = "$wanted" ] && return
    sleep 0.2
  done
  echo "$1 is $wanted, and nginx serves $served"; return 1
}`

/** The authority of the ministry signs the request of setup. It does so again for a renewal. */
export const SIGN = `cd /root && openssl x509 -req -in /etc/rollcall/tls.csr -copy_extensions copy -CA /etc/ssl/ministry.pem \\
  -CAkey ministry.key -CAcreateserial -days 20 -out /etc/rollcall/tls.pem 2> /dev/null`

/** The file of the certificate is written over: nobody restarts anything. */
export function renew({ run }: Machine, name: string): void {
  const before = run('openssl x509 -noout -serial -in /etc/rollcall/tls.pem')
  run(`${SIGN}\n${serves(name)}\nserves /etc/rollcall/tls.pem`)
  assert.notEqual(run('openssl x509 -noout -serial -in /etc/rollcall/tls.pem'), before)
}

/** Pebble is an authority that speaks ACME, for tests: it fetches the proof over port 80, as any such authority does. */
const PEBBLE = {
  listenAddress: '127.0.0.1:14000',
  managementListenAddress: '127.0.0.1:15000',
  certificate: '/root/acme.pem',
  privateKey: '/root/acme.key',
  httpPort: 80,
  tlsPort: 443,
  ocspResponderURL: '',
  externalAccountBindingRequired: false,
}

const ROOT = `fetch('https://127.0.0.1:15000/roots/0').then((answer) => answer.text()).then((pem) => process.stdout.write(pem))`

/** Setup changes the way to the certificate: certbot gets one, and its renewal is served. */
export function certify({ run }: Machine, name: string): void {
  run(`cd /root && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout acme.key -out acme.pem -days 30 \\
    -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 2> /dev/null`)
  run('cat > /root/pebble.json', JSON.stringify({ pebble: PEBBLE }))
  // Pebble would refuse one of twenty requests by chance. certbot tries again once, and fails when the second try is refused too.
  const settings = '--setenv=PEBBLE_VA_NOSLEEP=1 --setenv=PEBBLE_WFE_NONCEREJECT=0'
  run(`systemd-run --quiet --unit pebble ${settings} pebble -config /root/pebble.json`)
  run(`for _ in $(seq 50); do
      NODE_TLS_REJECT_UNAUTHORIZED=0 /usr/lib/rollcall/current/bin/node -e "${ROOT}" > /etc/ssl/acme.pem 2> /dev/null && exit; sleep 0.2
    done; exit 1`)
  // The authority of a ministry may speak ACME, too.
  run('cat >> /etc/letsencrypt/cli.ini', 'server = https://127.0.0.1:14000/dir\nno-verify-ssl = true\n')
  run('cat > /root/certbot.yaml', 'certificate: certbot\ncontact: it@example.org\nauthority_file: /etc/ssl/acme.pem\n')
  const said = run('rollcall setup --answers /root/certbot.yaml')
  assert.match(said, /run certbot certonly [\s\S]*\/ready answers through nginx/)
  const file = `/etc/letsencrypt/live/${name}/fullchain.pem`
  const before = run(`openssl x509 -noout -serial -in ${file}`)
  run(`${serves(name)}\nserves ${file}; certbot renew --quiet --force-renewal --no-random-sleep-on-renew; serves ${file}`)
  assert.notEqual(run(`openssl x509 -noout -serial -in ${file}`), before)
  run('systemctl stop pebble')
}
