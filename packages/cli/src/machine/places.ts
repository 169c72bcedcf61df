/** Where the files of the Debian package and of its machine are. */
export const CODE = '/usr/lib/rollcall'
export const SETTINGS = '/etc/rollcall'
/** As rollcall.env of the package names it. */
export const JOURNAL = '/var/lib/rollcall/journal'
export const BACKUPS = '/var/backups/rollcall'
/** The command that knows the settings of the machine and drops the rights of root. */
export const COMMAND = '/usr/bin/rollcall'
export const NGINX_SITE = '/etc/nginx/conf.d/rollcall.conf'
export const UNITS = '/etc/systemd/system'
/** A node listens on one of these for peers, and on the next one for operators. An upgrade goes from one to the other. */
export const PORTS = [8080, 8082] as const

export const SECRETS = {
  database: `${SETTINGS}/database-url`,
  owner: `${SETTINGS}/owner-database-url`,
  master_key: `${SETTINGS}/master-key`,
} as const
