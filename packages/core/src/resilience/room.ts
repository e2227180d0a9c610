/**
 * Room for calls that a store owes an answer. What is on its way to a stopped server is counted when it goes on, and that
 * is no more than there is room for; what finds none waits.
 */
export interface Room {
  /** A place, to be left again; undefined when there is none. */
  take(): Place | undefined;
  /** The next place that is left. Whoever has no use for it by then leaves it again. */
  wait(): Promise<Place>;
  leave(place: Place): void;
  /** Forgets who is in: their answers will not come any more. */
  clear(): void;
}

/** Which filling of the room a place is of: who comes out of an earlier one leaves nothing. */
export type Place = number;

export function createRoom(size: number): Room {
  let filling: Place = 0;
  let taken = 0;
  const waiting: ((place: Place) => void)[] = [];

  return {
    take() {
      if (taken >= size) return undefined;
      taken++;
      return filling;
    },
    wait: () => new Promise((resolve) => void waiting.push(resolve)),
    leave(place) {
      if (place !== filling) return;
      const next = waiting.shift();
      if (next === undefined) taken--;
      else next(filling);
    },
    clear() {
      filling++;
      const next = waiting.splice(0, size);
      taken = next.length;
      for (const resolve of next) resolve(filling);
    },
  };
}
