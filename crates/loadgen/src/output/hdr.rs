//! Writes the percentile distribution in the text format of HdrHistogram's plotter, in microseconds.

use std::io::{self, Write};

use hdrhistogram::Histogram;

/// Number of lines per halving of the distance to 100%. Other implementations of HdrHistogram have the same default.
const TICKS_PER_HALF_DISTANCE: u32 = 5;

pub fn write_percentiles(histogram: &Histogram<u64>, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    writeln!(out, "{:>12} {:>14} {:>10} {:>14}\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")?;
    let mut total = 0;
    for step in histogram.iter_quantiles(TICKS_PER_HALF_DISTANCE) {
        total += step.count_since_last_iteration();
        let value_us = step.value_iterated_to() as f64 / 1e3;
        let quantile = step.quantile_iterated_to();
        if quantile < 1.0 {
            writeln!(out, "{value_us:12.3} {quantile:2.12} {total:10} {:14.2}", 1.0 / (1.0 - quantile))?;
        } else {
            writeln!(out, "{value_us:12.3} {quantile:2.12} {total:10} {:>14}", "inf")?;
        }
    }
    writeln!(out, "#[Mean    = {:12.3}, StdDeviation   = {:12.3}]", histogram.mean() / 1e3, histogram.stdev() / 1e3)?;
    writeln!(out, "#[Max     = {:12.3}, Total count    = {:12}]", histogram.max() as f64 / 1e3, histogram.len())?;
    writeln!(out, "#[Buckets = {:12}, SubBuckets     = {:12}]", histogram.buckets(), 2048)
}
