/** The packages that are published, one row each, in the order in which they are published. */

export interface PublishedPackage {
  /** The folder in the workspace. Its package.json has the name, the description and the dependencies. */
  readonly directory: string
  readonly engines: { readonly node: string }
  /** Packages of the workspace that are not published themselves. Its tarball holds them as bundled dependencies. */
  readonly bundles?: readonly string[]
  /** The program that starts a bundle of the package, and the folder of the bundle. Both are paths in the package. */
  readonly bundle?: { readonly program: string; readonly folder: string }
  /** Folders of the workspace that are in the package as they are. */
  readonly folders?: readonly string[]
}

export const PACKAGES: readonly PublishedPackage[] = [
  { directory: 'packages/protocol', engines: { node: '>=22' } },
  { directory: 'packages/client', engines: { node: '>=22' } },
  {
    directory: 'packages/cli',
    engines: { node: '>=24' },
    bundles: [
      'packages/core',
      'packages/base',
      'packages/database',
      'packages/observe',
      'packages/records',
      'packages/keys',
      'packages/participants',
      'packages/audit',
      'packages/backup',
      'packages/consents',
      'packages/delivery',
      'packages/engine',
      'packages/import',
      'packages/source',
      'packages/settings',
      'packages/admin',
      'packages/server',
      'packages/synthetic',
      'packages/console',
    ],
    bundle: { program: 'bin/rollcall.mjs', folder: 'bundle' },
    // The units, settings and manifests that docs/production.md copies.
    folders: ['deploy'],
  },
]

export function packageAt(directory: string): PublishedPackage {
  const found = PACKAGES.find((row) => row.directory === directory)
  if (found !== undefined) return found
  const names = PACKAGES.map((row) => row.directory).join(', ')
  throw new Error(`${directory} is not a package that is published. Those are: ${names}`)
}
