/** Places of the Debian package's files and of its machine's. */
export const CODE_FOLDER = '/usr/lib/rollcall'
export const SETTINGS = '/etc/rollcall'
/** The path in the package's rollcall.env. */
export const JOURNAL = '/var/lib/rollcall/journal'
export const BACKUPS = '/var/backups/rollcall'
/** The SSH key of the service, with which it copies them to another machine. */
export const COPY_KEY = '/var/lib/rollcall/.ssh/id_ed25519'
/** Its time is that of the last copy. */
export const LAST_COPY_FILE = '/var/lib/rollcall/copied'
/** The command that reads the machine's settings and drops root's rights. */
export const COMMAND = '/usr/bin/rollcall'
export const NGINX_SITE = '/etc/nginx/conf.d/rollcall.conf'
export const UNITS = '/etc/systemd/system'
/** A node listens for peers on one of these ports, and for operators on the next one. An upgrade uses the other one. */
export const PORTS = [8080, 8082] as const

export const SECRETS = {
  database: `${SETTINGS}/database-url`,
  owner: `${SETTINGS}/owner-database-url`,
  master_key: `${SETTINGS}/master-key`,
} as const
