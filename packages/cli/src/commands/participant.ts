/** `rollcall participant`: manages the participants that may ask the registries. */
import { adminCommand } from '../admin-command.ts'
import { type CommandGroup, type LeafCommand, lazyCommand } from '../command-tree.ts'
import { namesAndValuesText, tableFormatter } from '../output.ts'
import { checkReportText, credentialsText } from '../participant-text.ts'
import { HOST_COMMAND_GROUP, KEY_COMMAND_GROUP } from './participant-keys.ts'
import { removalCommand } from './removal.ts'

const loadParticipantActs = () => import('@rollcall/admin/participants/participants')
const loadPartnerPageActs = () => import('@rollcall/admin/partner/link')

const EXAMPLE_PARTICIPANT = 'spmis.example.org'

/** Makes the command `disable` or `enable`. @param effect its effect, for the help */
const statusCommand = (word: 'disable' | 'enable', effect: string): LeafCommand =>
  adminCommand(async () => (await loadParticipantActs())[`${word}Participant`], {
    about: `${word} a participant: ${effect}`,
    args: 'sender_id',
    examples: [EXAMPLE_PARTICIPANT],
    text: (changed) => `${changed.sender_id} is ${changed.status}`,
  })

export const COMMAND_TREE: CommandGroup = {
  about: 'manage the participants: the systems that may send requests',
  commands: {
    add: adminCommand(async () => (await loadParticipantActs()).addParticipant, {
      about: 'add a participant and print its client secret, once',
      args: 'sender_id',
      options: {
        max_page_size: { none: 'default' },
        rate_limit: { none: 'default' },
        concurrency_limit: { none: 'default' },
        environment: null,
        grants: {
          flags: '--grant <file>',
          help: 'what it may do: a map of namespaces to grants, in YAML or JSON; - for standard input',
          read: (text) => text,
        },
      },
      more: { '--sandbox': 'for sandbox registries alone, until rollcall participant promote makes it live' },
      file: 'grants',
      notes: `
It may do nothing in a registry until something is granted: with --grant, or with rollcall grant set.
Its messages must be signed: register its keys with rollcall participant key add, or change its policy with
rollcall participant policy. docs/onboarding.md describes all steps.`,
      examples: [
        "spmis.example.org --name 'Social protection MIS'",
        "health.example.org --name 'Health insurance' --grant grants.yaml",
        "new.example.org --name 'A system that is tried out' --sandbox",
      ],
      adds: true,
      input: ({ sandbox }) => (sandbox ? { environment: 'sandbox' as const } : {}),
      text: ({ granted, ...added }, { sandbox }) =>
        [
          `added ${added.sender_id}${sandbox ? ', a sandbox participant' : ''}`,
          ...credentialsText(added),
          granted.length > 0
            ? `It has a grant in ${granted.join(', ')}, and may do nothing in other registries.`
            : `Nothing is granted yet: every request is refused until rollcall grant set ${added.sender_id} <namespace> ...`,
        ].join('\n'),
    }),
    list: adminCommand(async () => (await loadParticipantActs()).listParticipants, {
      about: 'list the participants',
      examples: ['--json'],
      text: tableFormatter(
        'sender_id name status environment signature_policy client_id max_page_size demo',
        'no participants yet; rollcall participant add makes one',
      ),
    }),
    disable: statusCommand('disable', 'within a second no server accepts its tokens'),
    enable: statusCommand('enable', 'its secrets and unexpired tokens are valid again'),
    key: KEY_COMMAND_GROUP,
    secret: {
      about: 'manage the client secrets of participants',
      commands: {
        rotate: adminCommand(async () => (await loadParticipantActs()).rotateParticipantSecret, {
          about: 'give a participant a new client secret and print it, once; the secret before it stays valid too',
          args: 'sender_id',
          notes:
            'A participant has two valid secrets at most: an older one ends at once. To end a secret that leaked, rotate twice.',
          examples: [EXAMPLE_PARTICIPANT],
          text: (rotated) => `${credentialsText(rotated).join('\n')} The one before it is good until the next rotation.`,
        }),
      },
    },
    link: adminCommand(async () => (await loadPartnerPageActs()).makePartnerLink, {
      about: 'print a link with which a participant signs in to the partner page, once, within 15 minutes',
      args: 'sender_id',
      notes: `
The address is that of ROLLCALL_PUBLIC_URL, else of HOST and PORT. The server has the page where it runs with
ROLLCALL_PARTNER_PAGE=1; the demo has it. Whoever opens the link sees the keys, addresses and deliveries of the participant:
give it to the people of the participant alone. A new link ends those that were not used; sessions go on until they end, or
until rollcall participant sign-out.`,
      examples: [EXAMPLE_PARTICIPANT],
      deps: async ({ config }) => {
        const { baseUrl } = await import('@rollcall/settings/addresses')
        // Only the server knows whether it has the partner page (ROLLCALL_PARTNER_PAGE), so `isOn` is true here, and the link is
        // always made. `base` returns the address before the path of the link.
        return { partnerPage: { isOn: true, base: () => baseUrl(config, config.port) } }
      },
      text: ({ url, sender_id, expires_at }) =>
        `${url}\nIt signs in as ${sender_id}, once, until ${expires_at}. It cannot be shown again.`,
    }),
    'sign-out': adminCommand(async () => (await loadPartnerPageActs()).signPartnerOut, {
      about: 'end the sessions of a participant on the partner page, and the links to it',
      args: 'sender_id',
      examples: [EXAMPLE_PARTICIPANT],
      text: ({ sender_id, sessions }) => `${sender_id} is signed out; sessions ended: ${sessions}`,
    }),
    policy: lazyCommand(
      'show or change how a participant signs and encrypts; servers use the change within a second',
      () => import('./participant-policy.ts'),
    ),
    subscriptions: adminCommand(
      async () => (await import('@rollcall/admin/participants/subscriptions')).changeParticipantSubscriptions,
      {
        about: 'show or change how many subscriptions a participant may have; servers use the change within a second',
        args: 'sender_id',
        options: {
          max_subscriptions: {
            flags: '--max <subscriptions>',
            help: "subscriptions in all registries that it may have, unlimited, or default for the server's limit",
            none: 'default',
          },
        },
        notes: 'Subscriptions that it has go on. Its grants say to which events it may subscribe.',
        examples: [`${EXAMPLE_PARTICIPANT} --max 500`],
      },
    ),
    limits: adminCommand(async () => (await import('@rollcall/admin/participants/limits')).changeParticipantLimits, {
      about: 'show or change how much a participant may ask at once; servers use the change within a second',
      args: 'sender_id',
      options: { max_page_size: { none: 'default' }, rate_limit: { none: 'default' }, concurrency_limit: { none: 'default' } },
      examples: [`${EXAMPLE_PARTICIPANT} --rate-limit 20`],
    }),
    host: HOST_COMMAND_GROUP,
    callback: lazyCommand(
      'show or change the addresses for answers to a participant; servers use the change within a second',
      () => import('./participant-callback.ts'),
    ),
    test: adminCommand(async () => (await import('@rollcall/admin/callbacks/callbacks')).testCallback, {
      about: 'send a signed test message to a participant, and print every step',
      args: 'sender_id',
      options: {
        to: { help: 'address to send it to, one that a request could name (default: its default address)' },
        registry: { help: 'namespace of the registry that sends it (default: the first registry)' },
      },
      notes: `
The message is an on-search without items, for a transaction that does not exist. A participant that works
acknowledges it, or refuses it in an acknowledgement. Nothing of it is stored here.

Exit codes: 0 the participant answered in one of these ways, 1 it did not.`,
      examples: [EXAMPLE_PARTICIPANT],
      deps: ({ config: { signatureNamespaces } }) => ({ signatureNamespaces }),
      failed: ({ ok }) => !ok,
      text: ({ steps, answer }) =>
        [
          ...steps.map(({ step, ok, told }) => `${ok ? 'ok    ' : 'failed'}  ${step.padEnd(12)}${told}`),
          ...(answer === '' ? [] : [`        ${answer}`]),
        ].join('\n'),
    }),
    check: lazyCommand(
      'check what the system of a sandbox participant has done, step by step, and store the report',
      () => import('./participant-check.ts'),
    ),
    show: adminCommand(async () => (await import('@rollcall/admin/participants/show')).showParticipant, {
      about: 'show a participant, with the reports of its checks',
      args: 'sender_id',
      examples: [EXAMPLE_PARTICIPANT],
      text: ({ checks, keys, secrets, grants, subscriptions, ...participant }) => {
        const plain = Object.entries(participant).filter(([, value]) => typeof value !== 'object' || value === null)
        const facts = namesAndValuesText({
          ...Object.fromEntries(plain),
          keys: keys.filter(({ state }) => state === 'live').length,
          secrets: secrets.filter(({ live }) => live).length,
          grants: [...new Set(grants.map(({ namespace }) => namespace))].join(', ') || null,
          subscriptions: subscriptions.live + subscriptions.suspended,
        })
        const reports = checks.map(
          ({ namespace, checked_at, version, ...report }) =>
            `\n\ncheck in ${namespace} at ${checked_at} by version ${version}\n${checkReportText(report)}`,
        )
        return [facts, ...reports].join('')
      },
    }),
    promote: adminCommand(async () => (await import('@rollcall/admin/participants/promote')).promoteParticipant, {
      about: 'make a sandbox participant live after its check, with new keys and a new secret',
      args: 'sender_id',
      options: { keys: '--key <file>' },
      reads: ['keys'],
      notes: `
It needs a report of rollcall participant check that passed in the last 30 days. Everything that the
participant had in the sandbox ends: within a second no server accepts its keys, secrets and tokens. Its grants, its
subscriptions and its callback settings end as well. It may do nothing until rollcall grant set grants it something in a
live registry.`,
      examples: ['new.example.org --key live-key.pem --kid sig-live'],
      text: (promoted) =>
        [
          `${promoted.sender_id} is live; what it had in the sandbox has ended`,
          ...credentialsText(promoted),
          `Nothing is granted yet: rollcall grant set ${promoted.sender_id} <namespace> grants something in a live registry,`,
          `and rollcall participant callback ${promoted.sender_id} sets its live callback addresses.`,
        ].join('\n'),
    }),
    remove: removalCommand('sender_id', {
      load: async () => (await import('@rollcall/admin/removal')).removeParticipant,
      about: 'remove a participant with its secrets, grants, subscriptions and stored messages',
      notes: `
Audit entries and its public keys stay: what it has signed can still be verified. A hold of the participant, or of a
period, stops it.`,
      example: 'old.example.org',
    }),
  },
}
