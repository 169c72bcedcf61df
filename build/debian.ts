/**
 * The Debian package: Node, the command and the server with what they import, the console, the documents, and the units. It has no
 * PostgreSQL: that of Debian is used. Where there is no `dpkg-deb`, none is made.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  globSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { buildPackages, manifestOf } from './build-package.ts'
import { root } from './compile.ts'

/** The files of deploy/ and docs/, by the folder of the machine that receives them. */
const COPIED: Readonly<Record<string, readonly string[]>> = {
  'usr/bin': ['deploy/debian/rollcall'],
  'lib/systemd/system': ['deploy/systemd/*.service', 'deploy/systemd/*.timer'],
  'etc/rollcall': ['deploy/systemd/rollcall.env'],
  'usr/share/doc/rollcall': ['docs/*.md', 'CHANGELOG.md'],
  'usr/share/doc/rollcall/kinds': ['docs/kinds/*.md'],
  'usr/share/doc/rollcall/examples/python': ['examples/python/*.py'],
  'usr/share/doc/rollcall/examples/java': ['examples/java/*.java'],
  DEBIAN: ['deploy/debian/{postinst,prerm,postrm}'],
}
/** Below this folder are the code of the package, and the versions that `postinst` makes of it. */
const CODE = 'usr/lib/rollcall/package'
const CONFFILES = ['/etc/rollcall/rollcall.env']
/** Debian's names of processors. */
const ARCHITECTURES: Readonly<Partial<Record<NodeJS.Architecture, string>>> = { x64: 'amd64', arm64: 'arm64' }

export const hasDpkg = (): boolean => spawnSync('dpkg-deb', ['--version'], { stdio: 'ignore' }).status === 0

/**
 * @param out the folder that receives `rollcall_<version>_<architecture>.deb`
 * @param change is given the folder of the code, before it is packed
 * @returns its path; null where the machine cannot make it
 */
export function writeDebianPackage(
  out: string,
  version: string,
  change: (code: string) => void = () => undefined,
): string | null {
  const architecture = ARCHITECTURES[process.arch]
  if (process.platform !== 'linux' || architecture === undefined || !hasDpkg()) return null
  const stage = mkdtempSync(join(tmpdir(), 'rollcall-debian-'))
  try {
    const files = join(stage, 'files')
    writeCode(join(stage, 'built'), join(files, CODE), version)
    change(join(files, CODE))
    for (const [folder, patterns] of Object.entries(COPIED)) {
      mkdirSync(join(files, folder), { recursive: true })
      for (const name of globSync([...patterns], { cwd: root })) {
        cpSync(join(root, name), join(files, folder, name.split('/').at(-1) ?? ''))
      }
    }
    cpSync(join(root, 'LICENSE'), join(files, 'usr/share/doc/rollcall/copyright'))
    setModes(files)
    writeFileSync(join(files, 'DEBIAN/conffiles'), `${CONFFILES.join('\n')}\n`)
    writeFileSync(join(files, 'DEBIAN/control'), control(version, architecture, kibibytes(files)))
    const path = join(out, `rollcall_${version}_${architecture}.deb`)
    mkdirSync(out, { recursive: true })
    execFileSync('dpkg-deb', ['--root-owner-group', '-Zzstd', '--build', files, path], { stdio: ['ignore', 2, 2] })
    return path
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

/** Node, and packages as npm installs them. */
function writeCode(built: string, to: string, version: string): void {
  const modules = join(to, 'node_modules')
  for (const directory of buildPackages(built, undefined, { version, declarations: false }).values()) {
    cpSync(directory, join(modules, relative(built, directory)), { recursive: true })
  }
  for (const name of productionModules()) {
    cpSync(join(root, name), join(to, name), { recursive: true, filter: (path) => !isNested(name, path) && isUsed(path) })
  }
  mkdirSync(join(to, 'bin'))
  cpSync(realpathSync(process.execPath), join(to, 'bin/node'))
  cpSync(join(root, 'deploy/debian/version-command'), join(to, 'bin/rollcall'))
  for (const name of ['nightly-backup', 'copy-away']) cpSync(join(root, 'deploy/debian', name), join(to, 'bin', name))
  writeFileSync(join(to, 'VERSION'), `${version}\n`)
}

interface Locked {
  readonly dev?: boolean
  readonly optional?: boolean
  readonly link?: boolean
}

/** The folders of the packages of others that a server needs. The optional ones are the embedded PostgreSQL. */
function productionModules(): readonly string[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, Locked>>
  }
  return Object.entries(packages)
    .filter(([path, { dev, optional, link }]) => path.startsWith('node_modules/') && !dev && !optional && !link)
    .map(([path]) => path)
    .filter((path) => !/^node_modules\/node(?:-bin-setup)?(?:\/|$)/.test(path))
}

/** Packages within a package have a row of their own in the list. */
const isNested = (name: string, path: string): boolean => relative(join(root, name), path).split('/').includes('node_modules')

/** Types, maps and descriptions are for whoever writes programs. Licences stay. */
const isUsed = (path: string): boolean => !/\.(?:[cm]?ts|map|md)$/.test(path) || /licen[cs]e|copying|notice/i.test(basename(path))

/** Root alone writes. What is a program stays one. */
function setModes(folder: string): void {
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) setModes(path)
    else if (entry.isFile()) chmodSync(path, (lstatSync(path).mode & 0o100) === 0 ? 0o644 : 0o755)
    else throw new Error(`${path} is neither a file nor a folder`)
  }
}

const kibibytes = (folder: string): number =>
  Math.ceil(
    globSync('**', { cwd: folder, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size, 0) / 1_024,
  )

function control(version: string, architecture: string, size: number): string {
  const { description, repository } = manifestOf('packages/cli') as unknown as {
    description: string
    repository: { url: string }
  }
  return `Package: rollcall
Version: ${version}
Architecture: ${architecture}
Maintainer: Rollcall <registry@example.org>
Installed-Size: ${size}
Depends: adduser, openssl, libc6 (>= 2.28), libstdc++6 (>= 9), libgcc-s1
Recommends: postgresql (>= 15), nginx, rsync, openssh-client
Section: net
Priority: optional
Homepage: ${repository.url.replace(/^git\+|\.git$/g, '')}
Description: ${description.split(':')[0]}
 Rollcall answers social-protection systems in front of the records of a
 registry. After the installation: rollcall setup.
`
}
