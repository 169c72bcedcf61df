/** Makes the files that `rollcall setup` writes, from the answers. */
import { dirname } from 'node:path'
import type { Answers } from './answers.ts'
import { NGINX_SITE, SETTINGS_FOLDER, UNIT_FOLDER } from './places.ts'

/** The file with the answers of the last setup, which are proposed at the next setup. */
export const ANSWERS_FILE = `${SETTINGS_FOLDER}/answers.json`
/** The nginx site on port 80. It serves certbot's proofs: files by which the certificate authority checks our domain (ACME). */
export const CERTBOT_NGINX_SITE = '/etc/nginx/conf.d/rollcall-acme.conf'
/** The folder below which certbot writes its proofs, and from which nginx serves them. */
export const CERTBOT_PROOF_FOLDER = '/var/lib/rollcall-acme'
/** The file with the settings that setup makes from the answers. */
export const SETUP_SETTINGS_FILE = `${SETTINGS_FOLDER}/setup.env`
/** The systemd unit that waits for a new certificate file. */
export const CERTIFICATE_PATH_UNIT = 'rollcall-certificate.path'

/**
 * Makes the texts of the files of setup, by path. Only root writes the files, and everybody may read them.
 * @param site the text of the existing nginx site, or else of the package's example with the port of the node
 */
export function setupFiles(answers: Answers, site: string): ReadonlyMap<string, string> {
  const { name, witness, copies, certificate, certificate_file, key_file } = answers
  const settings = [
    '# Written by rollcall setup. What you write into rollcall.env beside it goes before it.',
    `ROLLCALL_PUBLIC_URL=https://${name}`,
    ...(witness === 'later' ? [] : [`ROLLCALL_WITNESS=${witness}`]),
    ...(copies === 'later' ? [] : [`COPIES_TO=${copies}`]),
  ]
  const files = new Map([
    [ANSWERS_FILE, `${JSON.stringify(answers, null, 2)}\n`],
    [SETUP_SETTINGS_FILE, `${settings.join('\n')}\n`],
    [NGINX_SITE, nginxSiteWithNameAndCertificate(site, { name, certificate_file, key_file })],
  ])
  if (certificate === 'certbot') files.set(CERTBOT_NGINX_SITE, certbotSite(name))
  return files
    .set(`${UNIT_FOLDER}/${CERTIFICATE_PATH_UNIT}`, certificatePathUnit(listCertificateWatchPaths(answers)))
    .set(`${UNIT_FOLDER}/${CERTIFICATE_PATH_UNIT.replace('.path', '.service')}`, CERTIFICATE_SERVICE_TEXT)
}

/** Puts the public name and the certificate into the text of an nginx site. The port of the node in the text stays. */
function nginxSiteWithNameAndCertificate(
  site: string,
  names: { name: string; certificate_file: string; key_file: string },
): string {
  return site
    .replaceAll(/https:\/\/registry\.example\.org/g, `https://${names.name}`)
    .replace(/^( *server_name) .*$/m, `$1 ${names.name};`)
    .replace(/^( *ssl_certificate) .*$/m, `$1 ${names.certificate_file};`)
    .replace(/^( *ssl_certificate_key) .*$/m, `$1 ${names.key_file};`)
}

/** Replaces the port of the node in the text of an nginx site. */
export const nginxSiteWithPort = (site: string, port: number): string =>
  site.replace(/^( *server) 127\.0\.0\.1:\d+ /m, `$1 127.0.0.1:${port} `)

const certbotSite = (name: string): string => `# Written by rollcall setup: the proofs of certbot. Everything else goes to HTTPS.
server {
    listen 80;
    listen [::]:80;
    server_name ${name};
    location /.well-known/acme-challenge/ { root ${CERTBOT_PROOF_FOLDER}; }
    location / { return 301 https://$host$request_uri; }
}
`

/**
 * The paths that systemd watches for a new certificate. certbot replaces links, and systemd can miss a replaced link,
 * so the folder of the links is watched too.
 */
const listCertificateWatchPaths = ({ certificate, certificate_file, key_file }: Answers): readonly string[] => [
  certificate_file,
  key_file,
  ...(certificate === 'certbot' ? [dirname(certificate_file)] : []),
]

/**
 * Makes a path unit of systemd. The unit starts the service of CERTIFICATE_SERVICE_TEXT when a file at one of the paths changes.
 */
const certificatePathUnit = (paths: readonly string[]): string => `# Written by rollcall setup.
[Unit]
Description=Rollcall: waits for a new certificate

[Path]
${paths.map((path) => `PathChanged=${path}`).join('\n')}

[Install]
WantedBy=multi-user.target
`

const CERTIFICATE_SERVICE_TEXT = `# Written by rollcall setup: started when the file of the certificate has changed.
[Unit]
Description=Rollcall: nginx reads the new certificate
# However often the files change.
StartLimitIntervalSec=0

[Service]
Type=oneshot
# A certificate and its key are two files, and the second one is not waited for while this runs.
ExecStart=/usr/bin/sleep 2
ExecStart=/usr/sbin/nginx -t
ExecStart=/usr/bin/systemctl reload nginx
`
