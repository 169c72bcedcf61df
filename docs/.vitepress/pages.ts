/** The pages of the site in their order, by reader. A test compares them with the files of docs/. */

export interface Group {
  readonly text: string
  /** Address of a page without `.md`, and its name in the list. */
  readonly pages: readonly (readonly [page: string, text: string])[]
}

export const GROUPS: readonly Group[] = [
  {
    text: 'Start',
    pages: [
      ['concepts', 'Concepts'],
      ['install', 'Install'],
      ['sandbox', 'Sandbox'],
      ['comparison', 'Comparison'],
      ['glossary', 'Glossary'],
    ],
  },
  {
    text: 'Integrate',
    pages: [
      ['tutorial-integrator', 'Tutorial: your first search'],
      ['query', 'Queries'],
      ['asynchronous', 'Asynchronous requests'],
      ['events', 'Events and subscriptions'],
      ['enrolment', 'Enrolment'],
      ['client', 'Client library'],
      ['python', 'Python'],
      ['java', 'Java'],
      ['other-languages', 'Other languages'],
      ['command-line', 'Command line'],
      ['signature', 'Signatures'],
      ['encryption', 'Encryption'],
      ['uploads', 'Uploads of files'],
      ['troubleshooting', 'Troubleshooting by code'],
    ],
  },
  {
    text: 'Operate',
    pages: [
      ['tutorial-operator', 'Tutorial: your first registry'],
      ['small-registry', 'A small registry in production'],
      ['production', 'In production'],
      ['settings', 'Settings'],
      ['configuration', 'Configuration file'],
      ['import', 'Import of records'],
      ['sources', "Records in the registry's own database"],
      ['attributes-and-indexes', 'Attributes and indexes'],
      ['onboarding', 'Adding a participant'],
      ['grants', 'Grants'],
      ['partner', 'Partner page'],
      ['deliveries', 'Deliveries'],
      ['inbox', 'Inbox'],
      ['monitoring', 'Monitoring'],
      ['nodes', 'Nodes'],
      ['roles', 'Roles of the database'],
      ['approvals', 'Two-person approval'],
      ['keys', 'Keys'],
      ['backup', 'Backup and restore'],
      ['upgrade', 'Upgrade'],
      ['console', 'Console'],
      ['admin-api', 'Admin API'],
    ],
  },
  {
    text: 'Data protection',
    pages: [
      ['privacy', 'For the data-protection officer'],
      ['audit-log', 'Audit log'],
      ['consent', 'Consent'],
      ['protected-persons', 'Protected persons'],
      ['retention', 'Retention and erasure'],
      ['security', 'Security'],
    ],
  },
  {
    text: 'Develop',
    pages: [
      ['tutorial-developer', 'Tutorial: change Rollcall'],
      ['message-flow', 'Life of a message'],
      ['benchmarks', 'Benchmarks'],
      ['decisions/', 'Decisions'],
    ],
  },
  {
    text: 'Reference',
    pages: [
      ['query-reference', 'Queries: reference'],
      ['codes', 'Codes'],
      ['limits', 'Limits'],
      ['conformance', 'Conformance'],
      ['kinds/', 'Kinds of registries'],
      ['kinds/civil', 'Civil registry'],
      ['kinds/ibr', 'Beneficiary registry (ibr)'],
      ['kinds/ess', 'Employment support (ess)'],
      ['kinds/social', 'Social registry'],
      ['kinds/disability', 'Disability registry'],
      ['kinds/farmer', 'Farmer registry'],
    ],
  },
]
