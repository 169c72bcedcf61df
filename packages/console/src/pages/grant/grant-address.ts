/** What names the grant of a page: the participant that has it, and the registry that it is for. */
export interface GrantAddress {
  readonly sender_id: string
  readonly namespace: string
}
