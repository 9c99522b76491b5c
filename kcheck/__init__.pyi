from kcheck.engine.check import check as check
from kcheck.engine.check import check_text as check_text
from kcheck.engine.error import Error as Error
from kcheck.finding.finding import Finding as Finding
from kcheck.finding.report import Report as Report
from kcheck.finding.severity import Severity as Severity
from kcheck.kube.location import Location as Location

__version__: str
