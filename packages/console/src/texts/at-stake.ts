/** Texts about what stops when access is taken away. */
export const AT_STAKE = {
  grants: 'Grants that have not ended',
  subscriptions: 'Live subscriptions',
  deliveries: 'Deliveries that wait',
  orMore: (number: string) => `${number} or more`,
} as const
