"""Results, concerns, preferences and their like behave as PyMongo's do."""
import inspect
import itertools
import warnings

import pytest

from tests.unit.differential import names, outcomes

SCOPES = names("results", "collation", "write_concern", "read_concern", "server_api", "driver_info",
               "read_preferences")

BULK = ("{'nInserted': 1, 'nMatched': 2, 'nModified': 3, 'nRemoved': 4, 'nUpserted': 1,"
        " 'upserted': [{'index': 3, '_id': 9}], 'insertResults': {0: 1}, 'updateResults': {1: 1},"
        " 'deleteResults': {2: 1}}")
COUNTS = ["", ".acknowledged", ".bulk_api_result", ".inserted_count", ".matched_count", ".modified_count",
          ".deleted_count", ".upserted_count"]
BULK_RESULTS = [
    *(f"BulkWriteResult({BULK}, {known}){what}"
      for known, what in itertools.product((True, False), [*COUNTS, ".upserted_ids"])),
    *(f"ClientBulkWriteResult({BULK}, {known}, {verbose}){what}"
      for known, verbose, what in itertools.product((True, False), (True, False), [
          *COUNTS, ".has_verbose_results", ".insert_results", ".update_results", ".delete_results"])),
]
RESULTS = [
    "InsertOneResult(1,True)",
    "InsertOneResult(1,False).acknowledged",
    "InsertManyResult([1],True)",
    "InsertManyResult([1],False)",
    "UpdateResult({'n':1,'nModified':1},True)",
    "UpdateResult(None,False)",
    "UpdateResult(None,False).matched_count",
    "UpdateResult(None,True).matched_count",
    "UpdateResult({'n':1,'nModified':1},False).modified_count",
    "UpdateResult({'n':1,'nModified':1},False).upserted_id",
    "UpdateResult({'n':1,'nModified':1},False).did_upsert",
    "UpdateResult({'n':1,'nModified':1},True).did_upsert",
    "UpdateResult({'n':1,'nModified':0,'upserted':[{'index':0,'_id':5}]},True).matched_count",
    "UpdateResult({'n':1,'nModified':0,'upserted':[{'index':0,'_id':5}]},True).upserted_id",
    "UpdateResult({'n':1,'nModified':0,'upserted':{'index':0,'_id':5}},True,True).upserted_id",
    "UpdateResult({'n':1,'nModified':0,'upserted':5},True).upserted_id",
    "UpdateResult({'n':1},True).modified_count",
    "UpdateResult({},True).matched_count",
    "UpdateResult({'n':1,'nModified':0,'upserted':{'index':0,'_id':5}},True,True)",
    "UpdateResult({'n':1,'nModified':0,'upserted':{'index':0,'_id':5}},True,True).matched_count",
    "UpdateResult({'n':1,'nModified':0,'upserted':[]},True).upserted_id",
    "UpdateResult({'n':1,'upserted':{'_id':None}},True,True).did_upsert",
    "UpdateResult({'n':1,'upserted':[{'_id':None}]},True).did_upsert",
    "UpdateResult({'n':1,'upserted':[{'_id':0}]},True).did_upsert",
    "UpdateResult({'n':1,'upserted':[{'_id':0}]},True).matched_count",
    "UpdateResult({'n':1,'upserted':[{'_id':None}]},True).matched_count",
    "UpdateResult(None,True).raw_result",
    "UpdateResult(None,True).upserted_id",
    "DeleteResult({'n':3},True)",
    "DeleteResult({'n':3},True).deleted_count",
    "DeleteResult({},True).deleted_count",
    "DeleteResult({'n':3},False).deleted_count",
    "DeleteResult({'n':3},False).raw_result",
    "BulkWriteResult({},True).modified_count",
    "BulkWriteResult({},True).inserted_count",
    "BulkWriteResult({},True).upserted_ids",
    "BulkWriteResult({},False)",
    "BulkWriteResult({},True)",
    "ClientBulkWriteResult({},True,True).insert_results",
    "ClientBulkWriteResult({},True,True).inserted_count",
    "ClientBulkWriteResult({},True,True).bulk_api_result",
    "InsertOneResult(1,True)==InsertOneResult(1,True)",
    "pickle.loads(pickle.dumps(InsertOneResult(1,True)))",
    "copy.copy(InsertOneResult(1,True))",
    "setattr(InsertOneResult(1,True),'x',1)",
    "hash(InsertOneResult(1,True)) is not None",
]
COLLATIONS = [
    "Collation('en')",
    "Collation('en').document",
    "Collation('en',caseLevel=True,caseFirst='upper',strength=1,numericOrdering=True,alternate='shifted',maxVariable='punct',normalization=True,backwards=True,foo=3)",  # noqa: E501
    "Collation('en',strength='3').document",
    "Collation('en',strength='x')",
    "Collation('en',strength=None).document",
    "Collation('en',caseLevel=1)",
    "Collation('en',numericOrdering='t')",
    "Collation('en',normalization=1)",
    "Collation('en',backwards=1)",
    "Collation(3).document",
    "Collation(None).document",
    "Collation('en',caseFirst=4).document",
    "Collation('en',alternate=4).document",
    'Collation("en",maxVariable=4).document',
    "Collation('en')==Collation('en')",
    "Collation('en')=={'locale':'en'}",
    "Collation('en').__eq__(3)",
    "hash(Collation('en'))",
    "pickle.loads(pickle.dumps(Collation('en',strength=2)))",
    "validate_collation_or_none(None)",
    "validate_collation_or_none(Collation('en'))",
    "validate_collation_or_none({'locale':'en'})",
    "validate_collation_or_none('en')",
    "validate_collation_or_none(SON([('locale','en')]))",
    "Collation()",
]
WRITE_CONCERNS = [
    "WriteConcern()",
    "WriteConcern().document",
    "WriteConcern(w=1)",
    "WriteConcern(w='majority',wtimeout=3,j=True,fsync=None)",
    "WriteConcern(w=0).acknowledged",
    "WriteConcern(w=0,j=True)",
    "WriteConcern(w=0,j=False)",
    "WriteConcern(fsync=True,j=True)",
    "WriteConcern(fsync=True).document",
    "WriteConcern(fsync=True,j=False).document",
    "WriteConcern(w=-1)",
    "WriteConcern(w='')",
    "WriteConcern(w=1.5)",
    "WriteConcern(w=True)",
    "WriteConcern(w=True).document",
    "WriteConcern(wtimeout=-1)",
    "WriteConcern(wtimeout='a')",
    "WriteConcern(wtimeout=1.5)",
    "WriteConcern(wtimeout=1.5).document",
    "WriteConcern(wtimeout=0).document",
    "WriteConcern(j=1)",
    "WriteConcern(fsync=1)",
    "WriteConcern(w='0').acknowledged",
    "WriteConcern(w={'a':1})",
    "WriteConcern().is_server_default",
    "WriteConcern(w=1).is_server_default",
    "WriteConcern(j=None).is_server_default",
    "WriteConcern()==WriteConcern()",
    "WriteConcern(w=1)==WriteConcern(w='1')",
    "WriteConcern(w=1)==3",
    "WriteConcern(w=1)!=WriteConcern(w=2)",
    "hash(WriteConcern())",
    "pickle.loads(pickle.dumps(WriteConcern(w=2,j=True)))",
    "copy.copy(WriteConcern(w=2,j=True))",
    "copy.deepcopy(WriteConcern(w=2,j=True))",
    "WriteConcern(w=0,wtimeout=4).document",
    "WriteConcern(w=0,fsync=True)",
    "WriteConcern(w=1.0)",
    "list(WriteConcern(w=1,wtimeout=2,j=True).document)",
    "WriteConcern(1,2,True,False).document",
    "WriteConcern(w=1).document is WriteConcern(w=1).document",
    "validate_boolean('x',True)",
    "validate_boolean('x',1)",
    "WriteConcern(wtimeout=True).document",
    "WriteConcern(w=0,j=True,fsync=True)",
]
READ_CONCERNS = [
    "ReadConcern()",
    "ReadConcern('local')",
    "ReadConcern(level=None).document",
    "ReadConcern('local').document",
    "ReadConcern(3)",
    "ReadConcern('local').ok_for_legacy",
    "ReadConcern('majority').ok_for_legacy",
    "ReadConcern().ok_for_legacy",
    "ReadConcern('a')==ReadConcern('a')",
    "ReadConcern('a')==3",
    "hash(ReadConcern())",
    "pickle.loads(pickle.dumps(ReadConcern('local')))",
    "ReadConcern('').document",
    "ReadConcern('').level",
    "ReadConcern(b'a')",
]
API_AND_DRIVER = [
    "ServerApi('2')",
    "ServerApi(1)",
    "ServerApi('1',strict=1)",
    "ServerApi('1',deprecation_errors='x')",
    "ServerApi('1',True,False).strict",
    "ServerApi('1')==ServerApi('1')",
    "vars(ServerApiVersion)['V1']",
    "DriverInfo('a')",
    "DriverInfo()",
    "DriverInfo(None)",
    "DriverInfo(1)",
    "DriverInfo('a',1)",
    "DriverInfo('a',platform=1)",
    "DriverInfo('a','b','c')",
    "DriverInfo('')",
]
READ_PREFERENCES = [
    "Primary()",
    "Primary().document",
    "Primary().mode",
    "Primary().name",
    "Primary().mongos_mode",
    "Primary().tag_sets",
    "Primary().hedge",
    "Primary().max_staleness",
    "Primary().min_wire_version",
    "Primary()==Primary()",
    "Primary()==ReadPreference.PRIMARY",
    "Primary()==Secondary()",
    "Secondary()==Secondary()",
    "Secondary()==Secondary([{}])",
    "Secondary()==3",
    "Secondary()!=3",
    "Primary()==3",
    "hash(Secondary())",
    "Secondary(tag_sets=[])",
    "Secondary(tag_sets={})",
    "Secondary(tag_sets=())",
    "Secondary(tag_sets=({},))",
    "Secondary(tag_sets=[1])",
    "Secondary(tag_sets='a')",
    "Secondary(max_staleness=0)",
    "Secondary(max_staleness=-2)",
    "Secondary(max_staleness=1)",
    "Secondary(max_staleness=1.5)",
    "Secondary(max_staleness='90')",
    "Secondary(max_staleness=True)",
    "Secondary(max_staleness=90).min_wire_version",
    "Secondary(max_staleness=-1.0)",
    "Secondary(max_staleness=None)",
    "Secondary(hedge={})",
    "Secondary(hedge=[])",
    "Secondary(hedge=3)",
    "Secondary(hedge={'enabled':True}).document",
    "Secondary(hedge={'enabled':True})",
    "Secondary(hedge={}).document",
    "Secondary(hedge={}).hedge",
    "make_read_preference(0,None)",
    "make_read_preference(0,[{}])",
    "make_read_preference(0,[])",
    "make_read_preference(0,[{'a':'b'}])",
    "make_read_preference(0,None,90)",
    "make_read_preference(1,None)",
    "make_read_preference(4,[{'a':'b'}],90)",
    "make_read_preference(9,None)",
    "make_read_preference('a',None)",
    "read_pref_mode_from_name('secondaryPreferred')",
    "read_pref_mode_from_name('SECONDARY')",
    "read_pref_mode_from_name('x')",
    "[read_pref_mode_from_name(n) for n in ('PRIMARY','PRIMARY_PREFERRED','SECONDARY','SECONDARY_PREFERRED','NEAREST')]",  # noqa: E501
    "pickle.loads(pickle.dumps(Secondary([{'a':'b'}],90)))",
    "copy.deepcopy(Secondary([{'a':'b'}],90))",
    "copy.copy(Primary())",
    "pickle.loads(pickle.dumps(Primary()))",
    "Secondary().__getstate__()",
    "Nearest(tag_sets=[{'a':1}]).document",
    "Secondary(max_staleness=90)==Secondary(max_staleness=91)",
    "Secondary(hedge={})==Secondary()",
    "SecondaryPreferred(tag_sets=[{}]).tag_sets",
    "Primary()<Secondary()",
]
for _class in ("PrimaryPreferred", "Secondary", "SecondaryPreferred", "Nearest", "Primary"):
    READ_PREFERENCES += [f"{_class}(){what}" for what in (
        "", ".document", ".mode", ".name", ".mongos_mode", ".tag_sets", ".hedge", ".max_staleness",
        ".min_wire_version")]
    READ_PREFERENCES += [f"{_class}([{{'a': 'b'}}, {{}}], 100){what}" for what in ("", ".document")]


@pytest.mark.filterwarnings("ignore:.*hedge.*:DeprecationWarning")
@pytest.mark.parametrize("expression", [
    *RESULTS, *BULK_RESULTS, *COLLATIONS, *WRITE_CONCERNS, *READ_CONCERNS, *API_AND_DRIVER, *READ_PREFERENCES])  # noqa: E501
def test_same_outcome_as_pymongo(expression):
    ours, theirs = outcomes(expression, SCOPES)
    assert ours == theirs


def test_hedge_warns():
    with pytest.warns(DeprecationWarning, match="hedge") as caught:
        SCOPES[0]["Secondary"](hedge={"enabled": True})
    assert caught[0].filename == __file__


def test_primary_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SCOPES[0]["make_read_preference"](0, None).mode == 0


CLASSES = sorted(name for name, value in SCOPES[0].items()
                 if inspect.isclass(value) and value.__module__.startswith("geomongo.")
                 and not name.startswith("_") and name in SCOPES[1])


@pytest.mark.parametrize("name", CLASSES)
def test_same_public_names_and_parameters_as_pymongo(name):
    ours, theirs = (scope[name] for scope in SCOPES)
    missing = {n for n in dir(theirs) if not n.startswith("_")} - set(dir(ours))
    assert not missing
    if theirs.__init__ is not object.__init__ and not issubclass(theirs, Exception):
        assert str(parameters(ours)) == str(parameters(theirs))


def parameters(some_class):
    return [(p.name, p.default, p.kind) for p in inspect.signature(some_class).parameters.values()]


def test_server_and_topology_types_have_pymongos_numbers():
    from pymongo.server_type import SERVER_TYPE as SERVER
    from pymongo.topology_description import TOPOLOGY_TYPE as TOPOLOGY

    from geomongo.server_type import SERVER_TYPE, TOPOLOGY_TYPE
    assert SERVER_TYPE._asdict() == SERVER._asdict()
    assert TOPOLOGY_TYPE._asdict() == TOPOLOGY._asdict()


@pytest.mark.parametrize("name", ["ASCENDING", "DESCENDING", "GEO2D", "GEOSPHERE", "HASHED", "TEXT"])
def test_index_directions_are_pymongos(name):
    import pymongo

    from geomongo import constants
    assert getattr(constants, name) == getattr(pymongo, name)


def test_server_api_command_fields():
    api = SCOPES[0]["ServerApi"]
    assert api("1").command_fields() == {"apiVersion": "1"}
    assert api("1", True, False).command_fields() \
        == {"apiVersion": "1", "apiStrict": True, "apiDeprecationErrors": False}
