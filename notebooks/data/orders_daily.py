"""Orders of one day: list the day's files, clean each, publish. Paths travel through XCom, data never does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from airflow.sdk import dag, task


@dag(
    schedule="@daily",
    start_date=datetime(2026, 1, 1, tzinfo=UTC),
    catchup=False,  # the default; written out, because it decides what happens after a pause
    max_active_runs=2,
    default_args={"retries": 3, "retry_delay": timedelta(minutes=5)},
)
def orders_daily():
    @task(pool="orders_db")
    def list_files(data_interval_start=None):
        day = data_interval_start.strftime("%Y-%m-%d")
        return [f"orders/{day}/part-{part}.parquet" for part in range(4)]

    @task
    def process(path):
        # Reads the file, writes a clean copy beside it, and hands on where it is: a short text, not the data.
        return path.replace("orders/", "orders_clean/")

    @task
    def publish(paths):
        print(f"publishing {len(list(paths))} files")

    publish(process.expand(path=list_files()))


orders_daily()
