/** A small Debian in a folder, for checks that need root on Debian. */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'

const DEBIAN = 'bookworm'

/** Commands that must succeed on the machine of a check. */
export const NEEDED: readonly (readonly string[])[] = [
  ['debootstrap', '--version'],
  // Commands that need the rights of root.
  ['unshare', '--mount', 'true'],
]

/** Returns the needed commands that fail on this machine. */
export const lacking = (needed: readonly (readonly string[])[]): readonly string[] =>
  needed
    .filter(([program = '', ...words]) => spawnSync(program, words, { stdio: 'ignore' }).status !== 0)
    .map((words) => words.join(' '))

/** Makes the folder `to`: a copy of DEBIAN_BASE, which .ci/run makes once for all checks, or else a new Debian. */
export function makeDebian(to: string): void {
  const base = process.env.DEBIAN_BASE ?? ''
  if (base !== '') execFileSync('cp', ['--archive', base, to])
  // In a mount namespace of its own, what debootstrap mounts is gone when it ends.
  else execFileSync('unshare', ['--mount', 'debootstrap', '--variant=minbase', DEBIAN, to], { stdio: ['ignore', 'ignore', 2] })
}

/** Installs packages of Debian in such a folder, over the network of this machine. No service is started. */
export function installIn(folder: string, packages: readonly string[]): void {
  cpSync('/etc/resolv.conf', `${folder}/etc/resolv.conf`, { dereference: true })
  // A machine that is thrown away need not be safe from a loss of power.
  writeFileSync(`${folder}/etc/dpkg/dpkg.cfg.d/unsafe-io`, 'force-unsafe-io\n')
  const install = `printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d &&
    apt-get update -qq && apt-get install -qq --no-install-recommends ${packages.join(' ')} && rm /usr/sbin/policy-rc.d`
  execFileSync('unshare', ['--mount', '--pid', '--fork', 'sh', '-euc', MOUNT_AND_ENTER, folder, install], {
    env: { PATH: process.env.PATH, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C' },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
}

const MOUNT_AND_ENTER = 'mount -t proc proc "$0/proc"; mount --bind /dev "$0/dev"; exec chroot "$0" sh -euc "$1"'
