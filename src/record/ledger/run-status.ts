/** Which status a run's last event leaves it with, where it is suspended. */

export const suspendedStatus = {
  approval: 'approval_required',
  uncertain: 'uncertain',
  stopped: 'interrupted',
} as const
