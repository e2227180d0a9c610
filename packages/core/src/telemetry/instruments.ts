import {
  type Counter,
  createNoopMeter,
  type Histogram,
  type Meter,
  type MeterProvider,
  metrics,
} from '@opentelemetry/api';
import { METER, type Metric, METRICS } from './names.ts';

/** What is measured as it happens. */
export interface Instruments {
  readonly decisions: Counter;
  readonly denied: Counter;
  readonly degraded: Counter;
  readonly nearLimit: Counter;
  readonly shadow: Counter;
  readonly warnings: Counter;
  readonly storeDuration: Histogram;
}

/**
 * The instruments of the meter provider that is registered now; undefined while there is none. An SDK may be registered
 * after the limiter was made, and the API's meters, unlike its tracers, do not follow by themselves.
 * @param met told of each provider that is new
 */
export function createInstruments(
  met: (instruments: Instruments, meter: Meter, provider: MeterProvider) => void,
): () => Instruments | undefined {
  let provider: MeterProvider | undefined;
  let instruments: Instruments | undefined;
  return () => {
    const current = metrics.getMeterProvider();
    if (current === provider) return instruments;
    provider = current;
    instruments = undefined;
    const meter = current.getMeter(METER);
    if (meter === createNoopMeter()) return undefined;
    instruments = toInstruments(meter);
    met(instruments, meter, current);
    return instruments;
  };
}

function toInstruments(meter: Meter): Instruments {
  const counter = ({ name, ...options }: Metric): Counter => meter.createCounter(name, options);
  const { name, ...options } = METRICS.storeDuration;
  return {
    decisions: counter(METRICS.decisions),
    denied: counter(METRICS.denied),
    degraded: counter(METRICS.degraded),
    nearLimit: counter(METRICS.nearLimit),
    shadow: counter(METRICS.shadow),
    warnings: counter(METRICS.warnings),
    storeDuration: meter.createHistogram(name, options),
  };
}
