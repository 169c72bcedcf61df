/** Paths on a machine with the Debian package: files of the package, of `rollcall setup` and of the service. */

/** The folder of the program. Its link `current` names the node in use. */
export const CODE_FOLDER = '/usr/lib/rollcall'
export const SETTINGS_FOLDER = '/etc/rollcall'
/** The path of the journal, which the package's rollcall.env sets. */
export const JOURNAL_FILE = '/var/lib/rollcall/journal'
export const BACKUP_FOLDER = '/var/backups/rollcall'
/** The SSH key with which the service copies backups to another machine. */
export const COPY_KEY_FILE = '/var/lib/rollcall/.ssh/id_ed25519'
/** A file whose time of change is that of the last copy of backups and journal to another machine. */
export const LAST_COPY_TIME_FILE = '/var/lib/rollcall/copied'
/** The command of the package. As root it reads the machine's settings and drops root's rights, except in setup and upgrade. */
export const ROLLCALL_COMMAND_PATH = '/usr/bin/rollcall'
export const NGINX_SITE = '/etc/nginx/conf.d/rollcall.conf'
export const UNIT_FOLDER = '/etc/systemd/system'
/** The two ports for nodes. A node listens for operators on the port after its own. An upgrade uses the free one. */
export const NODE_PORTS = [8080, 8082] as const

export const SECRET_FILES = {
  database: `${SETTINGS_FOLDER}/database-url`,
  owner: `${SETTINGS_FOLDER}/owner-database-url`,
  master_key: `${SETTINGS_FOLDER}/master-key`,
} as const
