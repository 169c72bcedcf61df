/** The manifests, against the schemas of Kubernetes: not run here, because that needs a cluster. */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { configurationOf, deployed, PINNED, text } from './deploy-files.ts'

// The shapes of manifests are what is tested; naming them here would hide what is asserted.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Manifest = any

const documents = (path: string): readonly Manifest[] => parseAllDocuments(text(path)).map((document) => document.toJS())

const manifests = deployed.filter((path) => path.startsWith('deploy/kubernetes/')).flatMap((path) => documents(path))
const kinds = manifests.map((manifest): [string, Manifest] => [manifest.kind, manifest])
const one = (kind: string): Manifest => manifests.find((manifest) => manifest.kind === kind)
const [deployment, job, cron] = [one('Deployment'), one('Job'), one('CronJob')]
const pods: readonly [string, Manifest][] = [
  ['Deployment', deployment.spec.template],
  ['Job', job.spec.template],
  ['CronJob', cron.spec.jobTemplate.spec.template],
]
const environmentOf = (template: Manifest): Readonly<Record<string, string>> => {
  const { env = [], envFrom = [] } = template.spec.containers[0]
  const own = env.map(({ name, value }: { name: string; value: string }) => [name, value])
  return { ...(envFrom.length > 0 && one('ConfigMap').data), ...Object.fromEntries(own) }
}

const require = createRequire(import.meta.url)
const schemas = join(dirname(require.resolve('kubernetes-models/v1')), '../_schemas')

type Validate = ((data: unknown) => boolean) & { readonly errors?: unknown }

/** The compiled schema of a kind: `apps/v1` and `Deployment` are `IoK8sApiAppsV1Deployment`. */
function schemaOf({ apiVersion, kind }: Manifest): Validate {
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['core', apiVersion]
  const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
  const name = `IoK8sApi${capital(group.split('.')[0])}${capital(version)}${kind}`
  return require(join(schemas, `${name}.js`)).validate
}

/** Faults by the schema: its errors, and members that it does not know and so does not check. */
function problems(manifest: Manifest): readonly unknown[] {
  const unread = new Set<string>()
  const watched = (value: Manifest, path: string): Manifest => {
    if (value === null || typeof value !== 'object') return value
    const members = new Map(Object.keys(value).map((name) => [name, watched(value[name], `${path}/${name}`)]))
    for (const name of members.keys()) unread.add(`${path}/${name}`)
    return new Proxy(value, {
      get(target, name) {
        if (typeof name !== 'string' || !members.has(name)) return Reflect.get(target, name)
        unread.delete(`${path}/${name}`)
        return members.get(name)
      },
    })
  }
  const validate = schemaOf(manifest)
  const good = validate(watched(manifest, ''))
  return good ? [...unread] : [validate.errors]
}

describe('the schemas of Kubernetes', () => {
  it.each(kinds)('%s matches its schema, and has no member that the schema does not know', (_kind, manifest) => {
    expect(problems(manifest)).toEqual([])
  })

  it('find a wrong type and a misspelt member', () => {
    expect(problems({ ...deployment, spec: { ...deployment.spec, replicas: '2' } })).toHaveLength(1)
    const copy = structuredClone(deployment)
    copy.spec.template.spec.containers[0].livenesProbe = {}
    expect(problems(copy)).toEqual(['/spec/template/spec/containers/0/livenesProbe'])
  })
})

it('has one of each, in its namespace', () => {
  expect(kinds.map(([kind]) => kind).toSorted()).toEqual([
    ...['ConfigMap', 'CronJob', 'Deployment', 'Ingress', 'Job', 'Namespace', 'NetworkPolicy'],
    ...['PersistentVolumeClaim', 'PodDisruptionBudget', 'Service', 'ServiceAccount'],
  ])
  for (const { kind, metadata } of manifests) {
    if (kind !== 'Namespace') expect(metadata.namespace).toBe(one('Namespace').metadata.name)
  }
})

it.each(pods)('the pod of the %s runs without rights, on a root that it cannot write to', (_kind, { spec }) => {
  expect(spec.automountServiceAccountToken).toBe(false)
  expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } })
  const [container] = spec.containers
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
  expect(container.image).toMatch(PINNED)
  expect(container.resources.limits.memory).toBeDefined()
  const names = spec.volumes.map(({ name }: Manifest) => name)
  expect(names).toEqual(expect.arrayContaining(container.volumeMounts.map(({ name }: Manifest) => name)))
})

it('secrets are named and mounted as files; no manifest has one', () => {
  expect(manifests.filter(({ kind }) => kind === 'Secret')).toEqual([])
  for (const [kind, template] of pods) {
    const files = Object.entries(environmentOf(template)).filter(([name]) => name.endsWith('_FILE'))
    const [{ mountPath }] = template.spec.containers[0].volumeMounts
    for (const [, path] of files) expect(path.startsWith(`${mountPath}/`), kind).toBe(true)
  }
})

it('nodes serve behind the ingress as the application role; the jobs have the address of the owner', () => {
  const node = configurationOf(environmentOf(deployment.spec.template))
  expect(node).toMatchObject({ behindTlsProxy: true, host: '0.0.0.0', ownerDatabaseUrl: undefined })
  for (const [, template] of pods.slice(1)) {
    expect(configurationOf(environmentOf(template)).ownerDatabaseUrl).toBeDefined()
    expect(template.spec.volumes[0].projected.sources.map(({ secret }: Manifest) => secret.name)).toEqual([
      ...['rollcall-application', 'rollcall-owner'],
    ])
  }
  expect(deployment.spec.template.spec.volumes[0].secret.secretName).toBe('rollcall-application')
  expect(pods.map(([, { spec }]) => spec.containers[0].args[0])).toEqual(['serve', 'migrate', 'prune'])
})

it('prune reads the settings of the nodes: it deletes by the same ages', () => {
  const template = cron.spec.jobTemplate.spec.template
  expect(template.spec.containers[0].envFrom).toEqual(deployment.spec.template.spec.containers[0].envFrom)
  expect(environmentOf(template)).toEqual({
    ...environmentOf(deployment.spec.template),
    ROLLCALL_OWNER_DATABASE_URL_FILE: expect.any(String),
  })
})

it('probes ask the operator listener for its paths, and ports are those of the server', () => {
  const { port, adminPort } = configurationOf(environmentOf(deployment.spec.template))
  const [container] = deployment.spec.template.spec.containers
  expect(container.ports).toEqual([
    { name: 'peers', containerPort: port },
    { name: 'operator', containerPort: adminPort },
  ])
  const { startupProbe, livenessProbe, readinessProbe } = container
  expect([startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet)).toEqual([
    ...['/health', '/health', '/ready'].map((path) => ({ path, port: 'operator' })),
  ])
  expect(one('Service').spec.ports[0].targetPort).toBe('peers')
  const { ingress } = one('NetworkPolicy').spec
  expect(ingress.map(({ ports }: Manifest) => ports[0].port)).toEqual([port, adminPort])
})

it('waits longer for the end of a node than a node takes, and keeps one', () => {
  const { drain_time, stop_time } = DEFAULT_LIMITS
  const { terminationGracePeriodSeconds } = deployment.spec.template.spec
  expect(terminationGracePeriodSeconds).toBeGreaterThan(drain_time + stop_time)
  expect(deployment.spec.replicas).toBeGreaterThan(one('PodDisruptionBudget').spec.minAvailable)
  const { matchLabels } = deployment.spec.selector
  expect(deployment.spec.template.metadata.labels).toMatchObject(matchLabels)
  for (const kind of ['Service', 'PodDisruptionBudget']) {
    const { selector } = one(kind).spec
    expect(selector.matchLabels ?? selector).toEqual(matchLabels)
  }
})
